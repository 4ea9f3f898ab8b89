import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import amqp from 'amqplib'
import { expect, onTestFinished, test } from 'vitest'
import { explainEntries, explainTexts } from '../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { brokerControl, resumeServer, stopServer } from '../../src/lab/servers/index.ts'
import type { RabbitmqLine } from '../../src/lab/servers/index.ts'
import { startBroker } from '../servers/broker.ts'
import { decisive, isCampaign } from '../support/campaign.ts'

const { remedies } = explainEntries.find(({ id }) => id === 'broker-does-not-boot')!
/** the line that the text says to put into the configuration */
const permitted = remedies.flatMap(({ commands }) =>
  commands.filter((it) => typeof it === 'string' && it.includes('deprecated_features')),
)[0] as string
const denied = permitted.replace('true', 'false')

interface Node {
  /** what boots with these lines of configuration, or the log of what does not */
  boot: (...lines: readonly string[]) => Promise<string[] | string>
  declare: (options: { durable: boolean }) => Promise<void>
}

/** One with a durable and a transient queue, each with a persistent message. */
async function node(line: RabbitmqLine, { khepri = false } = {}): Promise<Node> {
  const broker = await startBroker(line, 'packages')
  onTestFinished(async () => broker.remove())
  const { server } = broker
  const { home } = server.local!
  const configuration = join(home, 'conf/rabbitmq.conf')
  const own = (await readFile(configuration, 'utf8')).split('\n').filter((it) => !it.includes('deprecated_features'))
  if (khepri) await brokerControl(server, ['enable_feature_flag', '--opt-in', 'khepri_db'])
  const declare = async ({ durable }: { durable: boolean }): Promise<void> => {
    const connection = await amqp.connect(`amqp://${server.user}:${server.password}@${server.host}:${server.port}`)
    const channel = await connection.createConfirmChannel()
    await channel.assertQueue('upload', { durable })
    await channel.assertQueue('kept', { durable: true })
    for (const queue of ['upload', 'kept']) channel.sendToQueue(queue, Buffer.from('x'), { persistent: true })
    await channel.waitForConfirms()
    await connection.close()
  }
  await declare({ durable: false })
  return {
    declare,
    boot: async (...lines) => {
      await stopServer(server)
      await writeFile(configuration, [...own, ...lines, ''].join('\n'))
      try {
        await resumeServer(server, { progress: () => undefined })
      } catch {
        return readFile(join(server.directory, 'output.log'), 'utf8')
      }
      const listed = await brokerControl(server, [
        'list_queues',
        '-q',
        '--no-table-headers',
        'name',
        'durable',
        'messages',
      ])
      return listed
        .trim()
        .split('\n')
        .map((it) => it.replaceAll('\t', ' '))
        .sort()
    },
  }
}

/** 4.3 is in test/repairs/reset-queues/no-boot.test.ts each time. */
const lines: [string, RabbitmqLine, { khepri?: boolean }][] = [
  ['4.0 with Khepri', '4.0', { khepri: true }],
  ['4.3', '4.3-permitting', {}],
]

test.each(decisive(lines, 1))(
  'the way out of a node that does not boot, as `explain` writes it: RabbitMQ %s',
  async (_, line, options) => {
    const { boot, declare } = await node(line, options)
    const log = await boot(denied)
    const said = (log as string).split('\n').filter((it) => it.includes('failed_to_deny_deprecated_features'))
    expect(said).not.toEqual([])
    expect(explainSearch(explainTexts)(said.at(-1)!).found[0]?.entry.id).toBe('broker-does-not-boot')
    expect(await boot(denied)).toContain('failed_to_deny_deprecated_features')
    expect(await boot(permitted)).toEqual(['kept true 1'])
    await declare({ durable: true })
    expect(await boot(denied)).toEqual(['kept true 2', 'upload true 1'])
    expect(await boot()).toEqual(['kept true 2', 'upload true 1'])
  },
  300_000,
)

test.each<RabbitmqLine>(isCampaign ? ['4.0'] : [])(
  'RabbitMQ %s with Mnesia boots without its transient queues',
  async (line) => {
    const { boot } = await node(line)
    expect(await boot(denied)).toEqual(['kept true 1'])
  },
  200_000,
)

test.each<RabbitmqLine>(isCampaign ? ['3'] : [])(
  'boots only without that line before 3.13: RabbitMQ %s',
  async (line) => {
    const { boot } = await node(line)
    const log = (await boot(permitted)) as string
    const said = log.split('\n').filter((it) => it.includes('there is no setting with that name'))
    expect(explainSearch(explainTexts)(said[0]!).found[0]?.entry.id).toBe('broker-does-not-boot')
    expect(await boot()).toEqual(['kept true 1'])
  },
  200_000,
)
