import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { brokerControl, resumeServer, stopServer } from '../../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { transientQueues } from '../../../src/knowledge/broker.ts'
import { startBroker } from '../../servers/index.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'

/** As its upgrade to one that refuses them leaves it: what is durable stays. */
async function deny(server: ServerRecord): Promise<void> {
  const line = `${transientQueues.permitSetting} = false\n`
  if (server.local) await appendFile(join(server.local.home, 'conf/rabbitmq.conf'), line)
  else
    await brokerControl(server, [
      'eval',
      `file:write_file("/etc/rabbitmq/conf.d/99-denied.conf", ${JSON.stringify(line)}).`,
    ])
  await stopServer(server)
  await resumeServer(server, { progress: () => undefined })
}

const words = ['reset-queues', '--drain', '0']

// starts a broker of its own, and starts it again
test('a broker that takes no transient queues any more: what is half taken back goes forward, and what is done is ' +
  'not taken back', async () => {
  const broker = await startBroker('4.3-permitting')
  const { server } = broker
  try {
    const [done, half] = [
      await queueDeployment('4.3-permitting', { on: server }),
      await queueDeployment('4.3-permitting', { on: server }),
    ]
    const before = new Map<typeof done, Awaited<ReturnType<typeof done.state>>>()
    const runs = new Map<typeof done, string>()
    for (const own of [done, half]) {
      await own.fill('upload', ['1', '2', '3'])
      before.set(own, await own.state())
      runs.set(own, (await own.operator.repair(words)).json<RepairDocument>().run!)
    }
    await half.operator.killedAt('delete-queues:undo-intended', ['undo', runs.get(half)!])
    await deny(server)

    const refused = await done.operator.repair(['undo', runs.get(done)!])
    const { outcome, error } = refused.json<RepairDocument>()
    expect({ code: refused.code, outcome, message: error?.message, state: await done.state() }).toEqual({
      code: 4,
      outcome: 'refused',
      message:
        'cannot make 3 queues (export, upload, upload_dlq) transient again, because the broker no longer ' +
        'accepts transient queues: RabbitMQ lists transient queues as a deprecated feature that is not permitted',
      state: madeDurable(before.get(done)!),
    })
    const resumed = await half.operator.repair(['resume', runs.get(half)!])
    expect({ code: resumed.code, said: resumed.stderr, state: withoutRepetitions(await half.state()) }).toEqual({
      code: 0,
      said: expect.stringContaining('The undo cannot continue: ') as string,
      state: madeDurable(before.get(half)!),
    })
    for (const own of [done, half]) await own.end()
  } finally {
    await broker.remove()
  }
}, 120_000)
