import type { Channel, ChannelModel, ConfirmChannel, GetMessage } from 'amqplib'
import type { BrokerEndpoint, Opened } from '../../core/endpoint.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore } from '../../core/run.ts'
import { journalQueuePrefix } from '../../knowledge/broker.ts'
import { withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { openConnection } from './handshake.ts'
import { managementApi } from './management.ts'
import { brokerPeer } from './peer.ts'

/** more than any run writes */
const maxMessages = 10_000

/**
 * Journals in the deployment itself, where they outlive the operator's machine: a durable queue for each run that is not finished,
 * whose first message is the record and each further one an event (DESIGN.md 6.6).
 */
export async function openRunStore(endpoint: BrokerEndpoint, { timeoutMs }: { timeoutMs: number }): Promise<Opened<RunStore>> {
  const peer = brokerPeer(endpoint)
  const connection = await openConnection(endpoint, peer, timeoutMs)
  const management = managementApi(endpoint, timeoutMs)
  return {
    source: runStore(connection, peer, timeoutMs, async () => {
      const queues = await management.pages(`/api/queues/${encodeURIComponent(endpoint.vhost)}`, ['name'], 'management')
      return queues.map(({ name }) => String(name))
    }),
    async close() {
      await Promise.all([connection.close().catch(() => undefined), management.close()])
    },
  }
}

function runStore(connection: ChannelModel, peer: Peer, timeoutMs: number, queues: () => Promise<string[]>): RunStore {
  const within = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await withDeadline(work, timeoutMs, peer)
    } catch (error) {
      if (error instanceof AdminError) throw error
      throw failure(error, peer)
    }
  }
  const read = async (run: string): Promise<RunHistory> => {
    const channel = await within(quiet(connection.createChannel()))
    try {
      const messages = await within(all(channel, queueOf(run)))
      return historyOf(run, messages, peer)
    } finally {
      // what was got and not acknowledged goes back to where it was
      await channel.close().catch(() => undefined)
    }
  }
  const logTo = async (run: string): Promise<RunLog & { publish: (value: RunRecord | RunEvent) => Promise<void> }> => {
    const channel = await within(quiet(connection.createConfirmChannel()))
    const publish = async (value: RunRecord | RunEvent): Promise<void> => {
      channel.publish('', queueOf(run), Buffer.from(JSON.stringify(value)), {
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
      })
      await within(channel.waitForConfirms())
    }
    return { publish, append: publish, close: async () => channel.close().catch(() => undefined) }
  }
  return {
    where: `${peer.where}: queue ${journalQueuePrefix}…`,
    async begin(record) {
      const channel = await within(quiet(connection.createChannel()))
      await within(channel.assertQueue(queueOf(record.run), { durable: true, arguments: { 'x-queue-type': 'classic' } }))
      await channel.close()
      const log = await logTo(record.run)
      await log.publish(record)
      return log
    },
    async reopen(run) {
      await read(run)
      return logTo(run)
    },
    read,
    async list() {
      const names = (await queues()).filter((name) => name.startsWith(journalQueuePrefix)).sort()
      const runs = names.map((name) => name.slice(journalQueuePrefix.length))
      return Promise.all(runs.map(async (run) => read(run).catch((error: unknown) => ({ run, unreadable: messageOf(error) }))))
    },
    async remove(run) {
      const channel = await within(quiet(connection.createChannel()))
      await within(channel.deleteQueue(queueOf(run)))
      await channel.close()
    },
  }
}

function queueOf(run: string): string {
  return `${journalQueuePrefix}${run}`
}

/** Without a listener, a channel that the broker closes ends the process. */
async function quiet<T extends Channel | ConfirmChannel>(opening: Promise<T>): Promise<T> {
  const channel = await opening
  channel.on('error', () => undefined)
  return channel
}

async function all(channel: Channel, queue: string): Promise<GetMessage[]> {
  const messages: GetMessage[] = []
  while (messages.length < maxMessages) {
    const message = await channel.get(queue, { noAck: false })
    if (message === false) return messages
    messages.push(message)
  }
  return messages
}

function historyOf(run: string, messages: readonly GetMessage[], peer: Peer): RunHistory {
  const [record, ...events] = messages.map(({ content }) => JSON.parse(content.toString('utf8')) as unknown)
  const head = record as RunRecord | undefined
  if (head?.schemaVersion === 1 && head.run === run) return { record: head, events: events as RunEvent[] }
  throw new AdminError('UNEXPECTED_ANSWER', `queue ${queueOf(run)} at ${peer.where} holds no journal that this version can read`)
}

function failure(thrown: unknown, peer: Peer): AdminError {
  const said = messageOf(thrown)
  const code = /ACCESS.REFUSED|\b403\b/.test(said) ? 'FORBIDDEN' : /NOT.FOUND|\b404\b/.test(said) ? 'USAGE' : 'UNREACHABLE'
  return new AdminError(code, `RabbitMQ at ${peer.where} does not take the journal: ${said}`, peer.suggestions, { cause: thrown })
}
