import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrokerEndpoint, Opened } from '../../core/endpoint.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore, UnreadableRun } from '../../core/run.ts'
import { assertRunName, isRunName } from '../../core/run.ts'
import { parseEvents, parseRecord } from '../../core/run-record.ts'
import { typedOn } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import { journalQueuePrefix } from '../../knowledge/broker.ts'
import { withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { brokerPeer, closeChannel, closeGently, clusterNameOf, openConnection } from './connection.ts'
import { brokerLists } from './two-ways.ts'
import type { ListOptions } from './two-ways.ts'
import { command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** more than any run writes: a longer journal is not from this program, and is not read whole */
const mostMessages = 100_000
const mostBytes = 64 * 1024 * 1024
const readAtOnce = 8
const savedAtOnce = 100

/** milliseconds between tries to read what another reader holds */
const turnMs = 100

/**
 * Opens the journals in the deployment itself, where they outlive the operator's machine. Each unfinished run has a
 * durable queue: its first message is the record, each further one an event (DESIGN.md 6.6). Reopens a connection that
 * was cut.
 */
export async function openRunStore(endpoint: BrokerEndpoint, options: ListOptions): Promise<Opened<RunStore>> {
  const { timeoutMs } = options
  const peer = brokerPeer(endpoint)
  const line = reconnecting(async () => openConnection(endpoint, peer, timeoutMs))
  const { lists, close } = brokerLists(endpoint, clusterNameOf(await line.connection()), options)
  return {
    source: runStore(line, endpoint, timeoutMs, async () => (await lists.queues()).map(({ name }) => name)),
    async close() {
      await Promise.all([line.close(), close()])
    },
  }
}

interface Line {
  connection(): Promise<ChannelModel>
  /** Drops the connection; the next use opens a new one */
  drop(): void
  close(): Promise<void>
}

function reconnecting(connect: () => Promise<ChannelModel>): Line {
  let current: Promise<ChannelModel> | null = null
  const drop = (): void => {
    void current?.then(closeGently).catch(() => undefined)
    current = null
  }
  return {
    async connection() {
      const opening = (current ??= connect().then((model) => {
        model.once('close', () => {
          if (current === opening) current = null
        })
        return model
      }))
      return opening.catch((error: unknown) => {
        if (current === opening) current = null
        throw error
      })
    },
    drop,
    async close() {
      await current?.then(closeGently).catch(() => undefined)
      current = null
    },
  }
}

function runStore(line: Line, endpoint: BrokerEndpoint, timeoutMs: number, queues: () => Promise<string[]>): RunStore {
  const peer = brokerPeer(endpoint)
  const within = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await withDeadline(work, timeoutMs, peer)
    } catch (error) {
      const told = error instanceof AdminError ? error : failure(error, peer)
      // a connection that does not answer, or is gone, is not used again
      if (told.code === 'TIMED_OUT' || told.code === 'UNREACHABLE') line.drop()
      throw told
    }
  }
  const onChannel = async <T>(work: (channel: Channel) => Promise<T>): Promise<T> => {
    const channel = await within(line.connection().then(async (model) => quiet(model.createChannel())))
    try {
      return await within(work(channel))
    } finally {
      // closing returns unacknowledged messages to their place
      await closeChannel(channel)
    }
  }
  const read = async (run: string, most = mostBytes): Promise<RunHistory> => {
    assertRunName(run)
    const messages = await whileOthersRead(timeoutMs, async () =>
      onChannel(async (channel) => all(channel, queueOf(run), most)),
    ).catch((error: unknown) => {
      if (!(error instanceof AdminError) || error.code !== 'USAGE') throw error
      throw new AdminError(
        'USAGE',
        `no run \`${run}\` on record in RabbitMQ at ${peer.where}`,
        ['testops-admin history -d {deployment}'],
        { cause: error },
      )
    })
    return historyOf(run, messages, endpoint, peer)
  }
  /** Reads a listed run; null if it ended while the list was being read, and its journal is gone. */
  const listed = async (run: string, most: number): Promise<RunHistory | UnreadableRun | null> => {
    if (!isRunName(run)) return { run, unreadable: `this queue at ${peer.where} is not named after a run` }
    return read(run, most).catch((error: unknown) => {
      if (error instanceof AdminError && error.code === 'USAGE') return null
      return { run, unreadable: messageOf(error), ...(error instanceof EmptyJournal && { isEmpty: true as const }) }
    })
  }
  const logTo = async (
    run: string,
    held: number,
  ): Promise<RunLog & { publish: (value: RunRecord | RunEvent) => Promise<void> }> => {
    const channel = await within(line.connection().then(async (model) => quiet(model.createConfirmChannel())))
    let isReturned = false
    let place = held
    // a broker also confirms messages that it could not route
    channel.on('return', () => (isReturned = true))
    const publish = async (value: RunRecord | RunEvent): Promise<void> => {
      await within(published(channel, queueOf(run), value, place++))
      if (isReturned) throw new AdminError('USAGE', `queue ${queueOf(run)} at ${peer.where} is gone`)
    }
    const append = async (...events: readonly RunEvent[]): Promise<void> => {
      for (const event of events) await publish(event)
    }
    return { publish, append, close: async () => closeChannel(channel) }
  }
  return {
    where: `${peer.where}: queue ${journalQueuePrefix}…`,
    async begin(record, events = []) {
      assertRunName(record.run)
      await onChannel(async (channel) =>
        // classic, whatever the virtual host's default type: a quorum queue drops what has been read often
        channel.assertQueue(queueOf(record.run), { durable: true, arguments: { 'x-queue-type': 'classic' } }),
      )
      const log = await logTo(record.run, 0)
      for (const value of [record, ...events]) await log.publish(value)
      return log
    },
    async reopen(run) {
      const { events } = await read(run)
      return logTo(run, events.length + 1)
    },
    read: async (run) => read(run),
    async list() {
      const names = (await queues()).filter((name) => name.startsWith(journalQueuePrefix)).sort()
      const runs = names.map((name) => name.slice(journalQueuePrefix.length))
      // anyone with write access can add huge journals: each gets an equal share, so the others can still be read
      const share = Math.floor(mostBytes / runs.length)
      const found: (RunHistory | UnreadableRun | null)[] = []
      for (let at = 0; at < runs.length; at += readAtOnce)
        found.push(...(await Promise.all(runs.slice(at, at + readAtOnce).map(async (run) => listed(run, share)))))
      return found.filter((it) => it !== null)
    },
    async discard(run, save) {
      const channel = await within(line.connection().then(async (model) => quiet(model.createChannel())))
      try {
        await drained(channel, queueOf(run), save, within)
        await within(Promise.resolve(channel.deleteQueue(queueOf(run), { ifEmpty: true })))
      } finally {
        await closeChannel(channel)
      }
    },
    async remove(run) {
      assertRunName(run)
      await onChannel(async (channel) => void (await channel.deleteQueue(queueOf(run))))
    },
  }
}

function queueOf(run: string): string {
  return `${journalQueuePrefix}${run}`
}

/** Adds a listener: without one, a channel that the broker closes ends the process. */
async function quiet<T extends Channel | ConfirmChannel>(opening: Promise<T>): Promise<T> {
  const channel = await opening
  channel.on('error', () => undefined)
  return channel
}

/** Publishes a message, which is on the broker's disk on return. Rejects if the channel or connection ends first. */
async function published(channel: ConfirmChannel, queue: string, value: object, place: number): Promise<void> {
  const options = { persistent: true, mandatory: true, contentType: 'application/json', messageId: String(place) }
  await new Promise<void>((resolve, reject) => {
    const ended = (): void => reject(new Error('the channel was closed'))
    channel.once('close', ended)
    channel.publish('', queue, Buffer.from(JSON.stringify(value)), options, (error: unknown) => {
      channel.removeListener('close', ended)
      if (error) reject(error instanceof Error ? error : new Error(messageOf(error)))
      else resolve()
    })
  })
}

/**
 * Reads every message, oldest first, and acknowledges none. Must be the only consumer: what another reader holds would
 * be missing. The queue counts no messages once the broker has handed all to the channel, but that answer may overtake
 * the last of them. The answer to the next request comes after them. Throws if they have more than `most` bytes.
 */
async function all(channel: Channel, queue: string, most: number): Promise<ConsumeMessage[]> {
  const messages: ConsumeMessage[] = []
  let bytes = 0
  const { messageCount } = await channel.checkQueue(queue)
  if (messageCount > mostMessages) throw tooLong(queue, `${messageCount} messages`)
  await channel.consume(
    queue,
    (message) => {
      bytes += message?.content.length ?? 0
      if (message && bytes <= most) messages.push(message)
    },
    { exclusive: true },
  )
  while ((await channel.checkQueue(queue)).messageCount > 0 && bytes <= most) await sleep(1)
  if (bytes > most) throw most < mostBytes ? notRead(queue) : tooLong(queue, `more than ${mostBytes / 1024 / 1024} MiB`)
  await channel.checkQueue(queue)
  return messages
}

/**
 * Saves every message, oldest first, and acknowledges each once it is saved; others stay. Must be the only consumer.
 * Also saves what arrives meanwhile.
 */
async function drained(
  channel: Channel,
  queue: string,
  save: (line: string) => Promise<void>,
  within: <T>(work: Promise<T>) => Promise<T>,
): Promise<void> {
  await within(Promise.resolve(channel.checkQueue(queue)))
  await within(Promise.resolve(channel.prefetch(savedAtOnce)))
  const waiting: ConsumeMessage[] = []
  await within(
    Promise.resolve(channel.consume(queue, (message) => void (message && waiting.push(message)), { exclusive: true })),
  )
  for (;;) {
    const batch = waiting.splice(0)
    for (const message of batch) await save(message.content.toString('utf8'))
    const last = batch.at(-1)
    if (last) channel.ack(last, true)
    // an answer to a request after an acknowledgement comes after the deliveries that this set free
    const { messageCount } = await within(Promise.resolve(channel.checkQueue(queue)))
    if (waiting.length > 0 || messageCount > 0) continue
    await within(Promise.resolve(channel.checkQueue(queue)))
    if (waiting.length === 0) return
  }
}

/** Retries while another reader is the only consumer, until the time is up. */
async function whileOthersRead<T>(timeoutMs: number, read: () => Promise<T>): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const isRead = error instanceof AdminError && /exclusive/.test(error.message)
      if (!isRead || performance.now() > end) throw error
      await sleep(turnMs)
    }
  }
}

class EmptyJournal extends AdminError {}

function historyOf(run: string, messages: readonly ConsumeMessage[], endpoint: BrokerEndpoint, peer: Peer): RunHistory {
  const queue = queueOf(run)
  if (messages.length === 0) {
    throw new EmptyJournal(
      'REFUSED',
      `queue ${queue} at ${peer.where} is empty, because the run \`${run}\` stopped before it changed anything`,
      [command`testops-admin discard ${run} -d {deployment}`],
    )
  }
  const place = {
    where: `queue ${queue} at ${peer.where}`,
    look: [rabbitmqctlOn(endpoint, 'list_queues', 'name', 'messages')],
  }
  const [first, ...others] = inPlace(messages).map(({ content }) => parse(content.toString('utf8')))
  const record = parseRecord(first, run, place)
  return { record, events: parseEvents(others, record, place, (index) => `message ${index + 2}`) }
}

function tooLong(queue: string, size: string): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `queue ${queue} contains ${size}, more than testops-admin ever saves for one run`,
  )
}

function notRead(queue: string): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `queue ${queue} is too large: at most ${mostBytes / 1024 / 1024} MiB of saved records are read, shared equally ` +
      'among all runs',
  )
}

/**
 * Returns each message once, in the order of writing. A broker that accepted nothing for a while may accept messages
 * later, although their sender gave up and wrote them again.
 */
function inPlace(messages: readonly ConsumeMessage[]): ConsumeMessage[] {
  const numbered = messages.map((message, index) => {
    const { messageId } = message.properties as { messageId?: unknown }
    return { message, place: typeof messageId === 'string' && /^\d+$/.test(messageId) ? Number(messageId) : index }
  })
  const seen = new Set<string>()
  return numbered
    .sort((a, b) => a.place - b.place)
    .flatMap(({ message, place }) => {
      const key = `${place} ${message.content.toString('latin1')}`
      if (seen.has(key)) return []
      seen.add(key)
      return [message]
    })
}

function rabbitmqctlOn({ host, vhost }: BrokerEndpoint, ...asked: string[]): ShellCommand {
  return typedOn(host, typed(['rabbitmqctl', '-p', vhost, ...asked]))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failure(thrown: unknown, peer: Peer): AdminError {
  const said = messageOf(thrown)
  const code = /ACCESS.REFUSED|\b403\b/.test(said)
    ? 'FORBIDDEN'
    : /NOT.FOUND|\b404\b/.test(said)
      ? 'USAGE'
      : 'UNREACHABLE'
  return new AdminError(
    code,
    `cannot access the run records saved in RabbitMQ at ${peer.where}: ${said}`,
    peer.suggestions,
    {
      cause: thrown,
    },
  )
}
