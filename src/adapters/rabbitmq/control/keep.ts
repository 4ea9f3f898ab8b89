import type { Channel, ChannelModel, Message } from 'amqplib'
import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import { AdminError } from '../../../core/error.ts'
import { withDeadline } from '../../failure.ts'
import type { Peer } from '../../failure.ts'
import { closeChannel, closeGently, openConnection } from '../connection.ts'
import { lost } from '../link.ts'
import { refusal, replyOf } from '../refusal.ts'

const heartbeatSeconds = 30
/**
 * Milliseconds between renewals. A broker closes the channel of a consumer that holds a message too long: after 30
 * minutes by default.
 */
const renewalMs = 8 * 60_000

export interface Keeper {
  /** Keeps queues that must all exist; skips those it already keeps */
  keep(queues: readonly string[]): Promise<void>
  kept(): ReadonlySet<string>
  heldBack(queue: string): Promise<number>
  /** Stops keeping a queue. Returns once the message that its consumer held is back in the queue */
  release(queue: string): Promise<void>
  /** Throws UNREACHABLE if the connection was lost: the queues it kept may be gone */
  assertHeld(): void
  close(): Promise<void>
}

/** A consumer and the message that it holds. */
interface Holding {
  tag: string
  message: Message | null
}

/** Returns a keeper that keeps queues on its own connection, which refused requests elsewhere do not close. */
export function keeper(endpoint: BrokerEndpoint, peer: Peer, timeoutMs: number): Keeper {
  let model: ChannelModel | null = null
  let channel: Channel | null = null
  let holdings = new Map<string, Holding>()
  let failure: AdminError | null = null
  let renewal: NodeJS.Timeout | undefined

  const within = async <T>(work: Promise<T>, what: string): Promise<T> => {
    try {
      return await withDeadline(work, timeoutMs, peer)
    } catch (thrown) {
      if (thrown instanceof AdminError) throw thrown
      const reply = replyOf(thrown)
      throw reply === null ? lost(thrown, peer) : refusal(reply, endpoint, what)
    }
  }

  const fail = (reason: unknown): void => {
    if (holdings.size > 0) failure ??= lost(reason, peer)
  }

  const consume = async (on: Channel, queue: string): Promise<Holding> => {
    const holding: Holding = { tag: '', message: null }
    const take = (message: Message | null): void => void (holding.message = message)
    const { consumerTag } = await within(on.consume(queue, take), `keeping RabbitMQ from deleting queue ${queue}`)
    holding.tag = consumerTag
    return holding
  }

  const openChannel = async (): Promise<Channel> => {
    model ??= await openConnection(endpoint, peer, timeoutMs, { heartbeatSeconds })
    const opened = await within(model.createChannel(), 'keeping RabbitMQ from deleting queues')
    opened.on('error', () => undefined)
    // the limit applies to each consumer
    await within(opened.prefetch(1), 'keeping RabbitMQ from deleting queues')
    return opened
  }

  const watch = (on: Channel): void =>
    void on.once('close', () => (on === channel ? fail(new Error('channel closed')) : undefined))

  /** Opens new consumers before it closes the old ones, so that each queue always has one. */
  const renew = async (): Promise<void> => {
    try {
      const before = channel
      const next = await openChannel()
      const renewed = new Map<string, Holding>()
      for (const queue of holdings.keys()) renewed.set(queue, await consume(next, queue))
      channel = next
      holdings = renewed
      watch(next)
      if (before) void closeChannel(before)
    } catch (error) {
      fail(error)
    }
  }

  const close = async (): Promise<void> => {
    clearInterval(renewal)
    renewal = undefined
    holdings = new Map()
    channel = null
    const closing = model
    model = null
    if (closing) await closeGently(closing)
  }

  return {
    async keep(queues) {
      for (const queue of queues) {
        if (holdings.has(queue)) continue
        if (!channel) {
          channel = await openChannel()
          watch(channel)
          model?.once('close', fail)
          renewal = setInterval(() => void renew(), renewalMs).unref()
        }
        holdings.set(queue, await consume(channel, queue))
      }
    },
    kept: () => new Set(holdings.keys()),
    async heldBack(queue) {
      const on = channel
      if (!on || !holdings.has(queue)) return 0
      // its answer comes after earlier deliveries to this consumer
      await within(on.checkQueue(queue), `checking whether testops-admin holds a message from queue ${queue}`)
      return holdings.get(queue)?.message ? 1 : 0
    },
    async release(queue) {
      const holding = holdings.get(queue)
      const on = channel
      if (!holding || !on) return
      const what = `releasing queue ${queue}`
      const { consumerCount } = await within(on.checkQueue(queue), what)
      holdings.delete(queue)
      await within(on.cancel(holding.tag), what)
      if (holding.message) on.nack(holding.message, false, true)
      // its answer comes after the message is back in the queue; without its only consumer, the queue itself may be
      // gone
      if (consumerCount > 1) await within(on.checkQueue(queue), what)
    },
    assertHeld() {
      if (failure === null) return
      const names = [...holdings.keys()].join(', ')
      const cause = failure
      // reported once: the queues may be kept again
      failure = null
      void close()
      throw new AdminError(
        'UNREACHABLE',
        `${cause.message}. RabbitMQ deletes auto-delete queues when their last consumer leaves, so these ` +
          `queues may be gone: ${names}`,
        peer.suggestions,
        { cause },
      )
    },
    close,
  }
}
