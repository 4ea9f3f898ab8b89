import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { explainEntries } from '../../../src/knowledge/explain/index.ts'
import { brokerControl, resumeServer, stopServer } from '../../../src/lab/servers/index.ts'
import type { RabbitmqLine } from '../../../src/lab/servers/index.ts'
import { startBroker } from '../../servers/index.ts'
import { queueDeployment } from './own-broker.ts'
import { decisive } from '../../support/campaign.ts'

const { remedies } = explainEntries.find(({ id }) => id === 'broker-does-not-boot')!
const typed = remedies.flatMap(({ commands }) => commands.filter((it) => typeof it === 'string'))
/** the line for the configuration, and the commands of this program, as the text has them */
const permitted = typed.find((it) => it.includes('deprecated_features'))!
const wordsOf = (command: string): string[] =>
  typed
    .find((it) => it.startsWith(`testops-admin ${command}`))!
    .split(' ')
    .slice(1)

interface Node {
  /** it keeps its metadata in Khepri */
  khepri?: true
  /** it boots with the setting, and without these queues */
  boots?: true
  /** it does not know the setting, which is taken out */
  knowsNone?: true
}

/** A node of 4.0 that keeps its metadata in Mnesia boots, without these queues: what comes next is the same. */
test.each(
  decisive<[string, RabbitmqLine, Node]>(
    [
      ['4.3', '4.3-permitting', {}],
      ['3.10', '3', { knowsNone: true }],
      ['4.0 with Mnesia', '4.0', { boots: true }],
      ['4.0 with Khepri', '4.0', { khepri: true }],
    ],
    1,
  ),
)(
  'an operator gets service and broker back, as `explain broker-does-not-boot` says: RabbitMQ %s',
  async (_, line, { khepri, boots = false, knowsNone }) => {
    const broker = await startBroker(line, 'packages')
    const { server } = broker
    const configuration = join(server.local!.home, 'conf/rabbitmq.conf')
    const given = (await readFile(configuration, 'utf8'))
      .split('\n')
      .filter((it) => !it.includes('deprecated_features'))
    const boot = async (...lines: readonly string[]): Promise<boolean> => {
      await stopServer(server)
      await writeFile(configuration, [...given, ...lines, ''].join('\n'))
      return resumeServer(server, { progress: () => undefined }).then(
        () => true,
        () => false,
      )
    }
    /** What an operator pastes: each line of the log, and of what the node printed, that says why. */
    const shown = async (): Promise<string[]> => {
      const logs = (await readdir(join(server.local!.home, 'log')))
        .filter((it) => it.endsWith('.log'))
        .map((it) => join(server.local!.home, 'log', it))
      const texts = await Promise.all(
        [...logs, join(server.directory, 'output.log')].map(async (it) => readFile(it, 'utf8')),
      )
      const says =
        /failed_to_deny_deprecated_features|there is no setting with that name|failed_to_prepare_configuration/
      return [
        ...new Set(texts.flatMap((text) => text.split('\n').map((it) => it.trim())).filter((it) => says.test(it))),
      ]
    }
    try {
      if (khepri) await brokerControl(server, ['enable_feature_flag', '--opt-in', 'khepri_db'])
      const own = await queueDeployment(line, { on: server })
      try {
        const connection = await own.connect()
        const channel = await connection.createChannel()
        await channel.assertQueue('kept', { durable: true, arguments: { 'x-queue-type': 'classic' } })
        await connection.close()
        await own.fill('kept', ['1', '2'])
        await own.fill('upload', ['lost with the node'])
        const denied = permitted.replace('true', 'false')
        expect(await boot(denied)).toBe(boots)
        const pasted = boots ? [] : await shown()
        expect(pasted.length > 0).toBe(!boots)
        for (const pastedLine of pasted) {
          const explained = await own.operator.run(['explain', '--json', pastedLine])
          expect(
            { code: explained.code, isFound: explained.stdout.includes('broker-does-not-boot') },
            pastedLine,
          ).toEqual({ code: 0, isFound: true })
        }

        const stopped = await own.operator.repair(wordsOf('service stop'))
        expect({ code: stopped.code, running: await own.service.isRunning() }, stopped.stderr).toEqual({
          code: 0,
          running: false,
        })
        // 4.0 on Khepri may stop once where a transient queue was bound, as the text says
        const mended = knowsNone ? [] : [permitted]
        if (!boots) expect((await boot(...mended)) || (khepri && (await boot(...mended)))).toBe(true)
        const listed = await brokerControl(server, [
          'list_queues',
          '-p',
          own.vhost.vhost,
          '-q',
          '--no-table-headers',
          'name',
          'durable',
          'messages',
        ])
        expect(
          listed
            .trim()
            .split('\n')
            .filter((it) => !it.startsWith('testops-admin.')),
        ).toEqual(['kept\ttrue\t2'])
        const reset = await own.operator.repair(wordsOf('reset-queues'))
        const { plan, error } = reset.json<RepairDocument>()
        expect(
          {
            code: reset.code,
            error,
            kinds: plan.steps.map(({ action }) => action.kind),
            setting: await own.setting(),
            running: await own.service.isRunning(),
          },
          reset.stderr,
        ).toEqual({
          code: 0,
          kinds: expect.arrayContaining(['set-setting', 'start-service']) as string[],
          setting: 'true',
          running: true,
        })
        await own.fill('upload', ['since'])
        if (!boots) expect(await boot(...(knowsNone ? [] : [denied]))).toBe(true)
        const { queues } = await own.state()
        expect(
          Object.fromEntries(Object.entries(queues).map(([name, { durable, texts }]) => [name, [durable, texts]])),
        ).toEqual({
          kept: [true, ['1', '2']],
          upload: [true, ['since']],
          upload_dlq: [true, []],
          export: [true, []],
        })
        const doctor = await own.operator.run([...wordsOf('doctor'), '--json'])
        expect(doctor.code, doctor.stdout).toBe(0)
      } finally {
        // a node that is down after all has nothing to be cleaned up, and must not hide why
        await own.end().catch(() => undefined)
      }
    } finally {
      await broker.remove()
    }
  },
  300_000,
)
