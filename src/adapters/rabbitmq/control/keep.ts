import type { Channel, ChannelModel, Message } from 'amqplib'
import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import { AdminError } from '../../../core/error.ts'
import { withDeadline } from '../../failure.ts'
import type { Peer } from '../../failure.ts'
import { openConnection } from '../handshake.ts'
import { closeChannel, closeGently } from '../close.ts'
import { lost } from '../link.ts'
import { refusal } from '../refusal.ts'
import { replyOf } from '../reply.ts'

const heartbeatSeconds = 30
/**
 * A broker closes the channel of a consumer that holds a message for too long, after 30 minutes unless it is set
 * otherwise.
 */
const renewalMs = 8 * 60_000

export interface Keeper {
  /** all of them have to be there; those that are kept already are passed over */
  keep(queues: readonly string[]): Promise<void>
  kept(): ReadonlySet<string>
  heldBack(queue: string): Promise<number>
  /** returns once what the consumer held is back in its place */
  release(queue: string): Promise<void>
  /** throws UNREACHABLE where the connection was lost: what it kept may be gone */
  assertHeld(): void
  close(): Promise<void>
}

/** A consumer and the messages that it received. */
interface Holding {
  tag: string
  message: Message | null
}

/** Keeps queues on a connection of its own, which no refusal of what is asked beside it closes. */
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
    const { consumerTag } = await within(on.consume(queue, take), `keeping queue ${queue} open`)
    holding.tag = consumerTag
    return holding
  }

  const openChannel = async (): Promise<Channel> => {
    model ??= await openConnection(endpoint, peer, timeoutMs, { heartbeatSeconds })
    const opened = await within(model.createChannel(), 'keeping queues open')
    opened.on('error', () => undefined)
    // for each consumer
    await within(opened.prefetch(1), 'keeping queues open')
    return opened
  }

  const watch = (on: Channel): void =>
    void on.once('close', () => (on === channel ? fail(new Error('channel closed')) : undefined))

  /** The new consumers are there before the old ones go, so that each queue always has one. */
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
      // its answer comes after what was delivered to us before
      await within(on.checkQueue(queue), `counting the held messages of queue ${queue}`)
      return holdings.get(queue)?.message ? 1 : 0
    },
    async release(queue) {
      const holding = holdings.get(queue)
      const on = channel
      if (!holding || !on) return
      const what = `letting go of queue ${queue}`
      const { consumerCount } = await within(on.checkQueue(queue), what)
      holdings.delete(queue)
      await within(on.cancel(holding.tag), what)
      if (holding.message) on.nack(holding.message, false, true)
      // its answer comes after what was given back is in its place; with its only consumer, the queue itself may be
      // gone
      if (consumerCount > 1) await within(on.checkQueue(queue), what)
    },
    assertHeld() {
      if (failure === null) return
      const names = [...holdings.keys()].join(', ')
      const cause = failure
      // told once: it may be kept again
      failure = null
      void close()
      throw new AdminError(
        'UNREACHABLE',
        `${cause.message}. This connection kept these queues open: ${names}. Those that RabbitMQ deletes without a consumer may be gone`,
        peer.suggestions,
        { cause },
      )
    },
    close,
  }
}
