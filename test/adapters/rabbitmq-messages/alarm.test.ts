import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openMessageMover } from '../../../src/adapters/rabbitmq/messages/index.ts'
import type { MessageMover } from '../../../src/core/message-mover.ts'
import { brokerControl, removeServer, startServer } from '../../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { freshVhost } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { errorOf, failureOf } from '../failure-of.ts'
import { withoutGiven } from '../own-servers.ts'
import { propertiesOf } from './messages.ts'
import { bodies, drainRaw, makeQueue, numbered, publishRaw, readyIn } from './raw.ts'

let folder = ''
let server: ServerRecord
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-rabbitmq-'))
  server = await startServer(
    { kind: 'rabbitmq', directory: join(folder, 'rabbitmq'), rabbitmq: { line: '4.3' } },
    { progress: () => undefined, environment: withoutGiven() },
  )
})
afterAll(async () => {
  await removeServer(server)
  await rm(folder, { recursive: true, force: true })
})

async function opened(timeoutMs: number): Promise<{ vhost: FreshVhost; mover: MessageMover }> {
  const vhost = await freshVhost('4.3', server)
  const { source, close } = await openMessageMover(vhost.endpoint, { timeoutMs })
  onTestFinished(close)
  return { vhost, mover: source }
}

async function outOfDisk(): Promise<void> {
  await brokerControl(server, ['set_disk_free_limit', '900000GB'])
}

async function enoughDisk(): Promise<void> {
  await brokerControl(server, ['set_disk_free_limit', '50MB'])
}

test('a broker that is out of disk stops the move; once there is room, it goes on', async () => {
  const { vhost, mover } = await opened(3000)
  await makeQueue(vhost, 'q')
  const all = numbered('q', 2000)
  await publishRaw(vhost.endpoint, all)
  await mover.aside({ from: 'q', to: 'held' })
  await outOfDisk()
  onTestFinished(enoughDisk)
  const error = await errorOf(mover.back({ from: 'held', to: 'q' }))
  expect(`${error?.code} ${error?.message}`).toBe(
    `UNAVAILABLE moving the messages of queue held into q: RabbitMQ at ${server.host}:${server.port}, vhost ` +
      `${vhost.vhost} has accepted no messages for 3 s, because it is low on disk. Messages that it did not ` +
      'accept stay where they were',
  )
  expect(error?.suggestions).toEqual(['rabbitmq-diagnostics alarms', 'df -h'])
  await enoughDisk()
  await mover.back({ from: 'held', to: 'q' })
  expect(await readyIn(vhost.endpoint, 'held')).toBe(0)
  expect([...new Set(bodies(await drainRaw(vhost.endpoint, 'q')))]).toEqual(bodies(all))
})

test('a broker that is out of disk for a moment only delays it', async () => {
  const { vhost, mover } = await opened(30_000)
  await makeQueue(vhost, 'q')
  const all = numbered('q', 5000)
  await publishRaw(vhost.endpoint, all)
  let isFull = false
  let relief: Promise<void> = Promise.resolve()
  const onProgress = ({ moved }: { moved: number }): void => {
    if (isFull || moved < 10) return
    isFull = true
    relief = outOfDisk().then(enoughDisk)
  }
  expect(await mover.aside({ from: 'q', to: 'held', onProgress })).toMatchObject({
    moved: 5000,
    perhapsTwice: 0,
    othersIds: 0,
    leftOut: 0,
  })
  await relief
  await mover.back({ from: 'held', to: 'q' })
  expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
})

test('a message that it does not take any more stops the move, and stays', async () => {
  const { vhost, mover } = await opened(20_000)
  await makeQueue(vhost, 'q')
  const large = Buffer.alloc(3_000_000, 'l')
  await publishRaw(vhost.endpoint, [{ exchange: '', routingKey: 'q', properties: propertiesOf({}), body: large }])
  await mover.aside({ from: 'q', to: 'held' })
  const setLargest = async (bytes: number): Promise<string> =>
    brokerControl(server, ['eval', `persistent_term:put(max_message_size, ${bytes}).`])
  await setLargest(2_000_000)
  onTestFinished(async () => void (await setLargest(16_777_216)))
  expect(await failureOf(mover.back({ from: 'held', to: 'q' }))).toBe(
    `REFUSED moving the messages of queue held into q: RabbitMQ at ${server.host}:${server.port}, vhost ` +
      `${vhost.vhost} refused: PRECONDITION_FAILED - message size 3000000 is larger than configured max size ` +
      '2000000',
  )
  expect([await readyIn(vhost.endpoint, 'held'), await readyIn(vhost.endpoint, 'q')]).toEqual([1, 0])
  await setLargest(16_777_216)
  await mover.back({ from: 'held', to: 'q' })
  expect((await drainRaw(vhost.endpoint, 'q')).map(({ body }) => body.equals(large))).toEqual([true])
})
