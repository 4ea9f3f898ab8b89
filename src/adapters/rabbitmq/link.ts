import type { Channel, ChannelModel } from 'amqplib'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { atMost } from '../../core/work.ts'
import { peerFailure, withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { closeChannel, closeGently, closingMs, hangUp, openConnection } from './connection.ts'
import { connectionForced, replyOf } from './refusal.ts'
import type { Reply } from './refusal.ts'

/**
 * AMQP lets one request at a time wait on a channel. More channels than this gain nothing, and cost the broker a
 * process each.
 */
const channelsAtOnce = 16
/** keeps the network from dropping a silent connection, and detects a dead peer */
const heartbeatSeconds = 30

/** A connection that opens on first use, and again on the next use after it was lost. */
export interface Link {
  /**
   * Runs `work` for each item, many at a time and roughly in order. Returns the results in that order. `settle` turns a
   * refusal by the broker into a result, or throws. Throws as the handshake does, UNREACHABLE, TIMED_OUT for work
   * beyond the deadline, UNAVAILABLE while an alarm of the broker blocks the connection. All work has ended when it
   * throws.
   */
  each<Item, Result>(
    items: readonly Item[],
    work: (channel: Channel, item: Item) => Promise<Result>,
    settle: (reply: Reply, item: Item) => Result,
  ): Promise<Result[]>
  /** Closes the connection, also one that is being opened, for good. Never throws */
  close(): Promise<void>
}

interface Line {
  model: ChannelModel
  /** Resolves with the reason once the connection is gone */
  ended: Promise<unknown>
  isOpen: boolean
  /** Why the broker accepts nothing from this connection at the moment; null if it does */
  blocked: string | null
  /** Drops the connection at once; the next use opens another */
  drop(): void
}

/** Returns a link to the broker. Opens nothing yet. */
export function brokerLink(endpoint: BrokerEndpoint, peer: Peer, timeoutMs: number): Link {
  let current: Promise<Line> | null = null
  const closing = new AbortController()

  const line = async (): Promise<Line> => {
    const before = current
    const held = await before?.catch(() => null)
    if (held?.isOpen) return held
    // the first caller that finds it closed opens another
    if (current === before || current === null) current = openLine(endpoint, peer, timeoutMs, closing.signal)
    return current
  }

  /**
   * Opens a channel. If the refusal of another request closed the connection, opens the channel on a new connection.
   */
  const channelOfOne = async (): Promise<{ on: Line; channel: Channel }> => {
    const on = await line()
    try {
      return await openChannel(on, work)
    } catch (thrown) {
      if (thrown instanceof AdminError) throw thrown
      const reason = on.isOpen ? thrown : ((await on.ended) ?? thrown)
      if (replyOf(reason) === null || replyOf(reason)?.code === connectionForced) throw lost(reason, peer)
      return openChannel(await line(), work)
    }
  }

  const work = async <T>(on: Line, asked: Promise<T>): Promise<T> => {
    try {
      return await withDeadline(asked, timeoutMs, peer)
    } catch (thrown) {
      if (!(thrown instanceof AdminError) || thrown.code !== 'TIMED_OUT') throw thrown
      // it is unknown what else it would answer
      on.drop()
      throw on.blocked === null ? thrown : blockedBy(on.blocked, peer, thrown)
    }
  }

  return {
    async each<Item, Result>(
      items: readonly Item[],
      ask: (channel: Channel, item: Item) => Promise<Result>,
      settle: (reply: Reply, item: Item) => Result,
    ) {
      const results: Result[] = []
      let next = 0
      let failed: { error: unknown } | null = null
      const worker = async (): Promise<void> => {
        let open: { on: Line; channel: Channel } | null = null
        try {
          while (failed === null && next < items.length) {
            const index = next++
            const item = items[index] as Item
            open ??= await channelOfOne()
            try {
              results[index] = await work(open.on, ask(open.channel, item))
            } catch (thrown) {
              const reply = await whatWasSaid(thrown, open.on, peer)
              // a refusal closes the channel
              open = null
              results[index] = settle(reply, item)
            }
          }
        } catch (error) {
          failed ??= { error }
        }
        if (open) void closeChannel(open.channel)
      }
      await Promise.all(Array.from({ length: Math.min(channelsAtOnce, items.length) }, worker))
      const failure = failed as { error: unknown } | null
      if (failure !== null) throw failure.error instanceof Error ? failure.error : lost(failure.error, peer)
      return results
    },
    async close() {
      closing.abort()
      const held = await current?.catch(() => null)
      current = null
      if (held) await closeGently(held.model)
    },
  }
}

async function openLine(endpoint: BrokerEndpoint, peer: Peer, timeoutMs: number, signal: AbortSignal): Promise<Line> {
  const model = await openConnection(endpoint, peer, timeoutMs, { heartbeatSeconds, signal })
  let end: (reason: unknown) => void = () => undefined
  const ended = new Promise<unknown>((resolve) => (end = resolve))
  const line: Line = {
    model,
    ended,
    isOpen: true,
    blocked: null,
    drop() {
      // amqplib does not notice this
      hangUp(model)
      line.isOpen = false
      end(new Error('let go of'))
    },
  }
  model.once('close', (reason) => {
    line.isOpen = false
    end(reason)
  })
  model.on('blocked', (reason) => (line.blocked = reason))
  model.on('unblocked', () => (line.blocked = null))
  return line
}

async function openChannel(
  on: Line,
  work: <T>(on: Line, asked: Promise<T>) => Promise<T>,
): Promise<{ on: Line; channel: Channel }> {
  // `createChannel` throws at once if the connection is closed
  const channel = await work(on, (async () => on.model.createChannel())())
  // without a listener, a channel that the broker closes ends the process
  channel.on('error', () => undefined)
  return { on, channel }
}

/**
 * Returns the broker's refusal. Throws if it refused nothing: the connection was lost, or the broker did not answer in
 * time.
 */
async function whatWasSaid(thrown: unknown, on: Line, peer: Peer): Promise<Reply> {
  const reply = replyOf(thrown)
  if (reply) return reply
  if (thrown instanceof AdminError || thrown instanceof TypeError) throw thrown
  // channels of a closed connection only report that they have ended
  const reason = await atMost(closingMs, on.ended, thrown)
  const ofConnection = replyOf(reason)
  if (ofConnection && ofConnection.code !== connectionForced) return ofConnection
  throw lost(reason ?? thrown, peer)
}

/** Returns the error for a connection that was lost for a reason other than the request. */
export function lost(reason: unknown, peer: Peer): AdminError {
  const failure = peerFailure(reason, peer)
  if (failure.code === 'UNREACHABLE' || failure.code === 'TIMED_OUT') return failure
  const said = replyOf(reason)
  return new AdminError(
    'UNREACHABLE',
    `RabbitMQ at ${peer.where} closed the connection${said ? `: ${said.text}` : ''}`,
    peer.suggestions,
    { cause: reason },
  )
}

function blockedBy(reason: string, peer: Peer, cause: unknown): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `RabbitMQ at ${peer.where} accepts no data at the moment, because of an alarm: '${reason}'`,
    peer.suggestions,
    {
      cause,
    },
  )
}
