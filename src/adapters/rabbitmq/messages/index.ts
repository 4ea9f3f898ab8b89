import { createHash, randomBytes } from 'node:crypto'
import type { BrokerEndpoint, Opened } from '../../../core/endpoint.ts'
import type { MessageMover, Move, Moved } from '../../../core/message-mover.ts'
import { brokerPeer, shakeHands } from '../connection.ts'
import { backExchangePrefix } from '../../../knowledge/broker.ts'
import { holding, restoring, Seen } from './conversion.ts'
import type { Conversion } from './conversion.ts'
import { moveFailure } from './failure.ts'
import { ClosedByBroker, Link, NoAnswer, channel } from './link.ts'
import { declareHolding, getMessages, look, openExchange, removeExchange, roomFor } from './queues.ts'
import type { Room } from './queues.ts'
import { Transfer, readByOthers } from './transfer.ts'
import { writeNowhere } from './envelope.ts'
import { method } from './frames.ts'

/**
 * Opens a mover with two connections, one to read and one to publish. A broker that is out of memory or disk blocks
 * those that publish, but what it has confirmed must still be acknowledged. `timeoutMs` is how long nothing at all may
 * happen. Throws as `openBroker` does.
 */
export async function openMessageMover(
  endpoint: BrokerEndpoint,
  { timeoutMs }: { timeoutMs: number },
): Promise<Opened<MessageMover>> {
  const peer = brokerPeer(endpoint)
  await shakeHands(endpoint, peer, timeoutMs)
  let ends: Ends | null = null
  let isAnybody: boolean | null = null

  /** Returns the only user_id that the broker accepts from us; null if it accepts any */
  const ownName = async (target: Link): Promise<string | null> => {
    isAnybody ??= await mayImpersonate(target, endpoint.user)
    return isAnybody ? null : endpoint.user
  }

  const opened = async (): Promise<Ends> => {
    if (ends && !(ends.source.isUsable && ends.target.isUsable)) await closeBoth(ends)
    if (!ends?.source.isUsable) {
      const source = await Link.open(endpoint, timeoutMs)
      ends = { source, target: await Link.open(endpoint, timeoutMs).catch(endingWith(source)) }
    }
    await ends.source.openChannel()
    await ends.target.openChannel()
    return ends
  }

  const move = async (
    of: Move,
    prepare: (ends: Ends) => Promise<Conversion>,
    tidy = async (_: Link) => {},
  ): Promise<Moved> => {
    let room: Room | null = null
    try {
      const { source, target } = await opened()
      if ((await look(source, of.from)).consumers > (of.kept ? 1 : 0)) throw readByOthers(of.from)
      const conversion = await prepare({ source, target })
      if (of.fits) room = await roomFor(of, of.fits, { reading: source, endpoint, timeoutMs })
      return await watched(new Transfer({ source, target, conversion, room }, of), timeoutMs)
    } catch (error) {
      // a failure here must not hide what ended the move
      await of.kept?.keepAgain().catch(() => undefined)
      const doing = `moving the messages of queue ${of.from} into ${of.to}`
      throw moveFailure(error, { doing, blocked: ends?.target.blocked ?? null, peer, vhost: endpoint.vhost, timeoutMs })
    } finally {
      await room?.close()
      if (ends) await settle(ends, tidy)
    }
  }

  const source: MessageMover = {
    target: peer.where,
    aside: async (of) =>
      move(of, async ({ target }) => {
        await declareHolding(target, of.to)
        const attempt = of.attempt ?? randomBytes(8).toString('hex')
        return holding({ to: of.to, user: endpoint.user, attempt, frameMax: target.frameMax })
      }),
    async back(of) {
      const exchange = exchangeFor(of.to)
      const prepare = async ({ source: reading, target }: Ends): Promise<Conversion> => {
        const { ready } = await look(target, of.to)
        const user = of.othersIds === false ? endpoint.user : await ownName(target)
        const seen = of.repeats ? new Seen(of.repeats.most) : null
        if (seen && of.repeats?.isCut) await readSeen(reading, of.to, ready, seen)
        await openExchange(target, exchange, of.to)
        return restoring({ from: of.from, exchange, user, seen, came: of.came ?? {} })
      }
      return move(of, prepare, async (target) => removeExchange(target, exchange))
    },
  }
  return { source, close: async () => closeBoth(ends) }
}

interface Ends {
  source: Link
  target: Link
}

/** Cleans up after a move, and returns messages that were delivered but not acknowledged to their place. */
async function settle({ source, target }: Ends, tidy: (target: Link) => Promise<void>): Promise<void> {
  // a broker that accepts nothing answers nothing
  if (target.blocked !== null) target.destroy()
  try {
    if (target.isUsable && !target.isChannelOpen) await target.openChannel()
    if (target.isUsable) await tidy(target)
  } catch {
    // the exchange was not made, or goes with its queue; the next attempt removes it
  }
  for (const link of [source, target]) await link.closeChannel().catch(() => link.destroy())
}

function endingWith(link: Link): (error: unknown) => never {
  return (error) => {
    link.destroy()
    throw error
  }
}

/** Returns the same name in each attempt, so that the next attempt removes what a killed one left. */
function exchangeFor(queue: string): string {
  return `${backExchangePrefix}${createHash('sha256').update(queue).digest('hex').slice(0, 16)}`
}

/** Runs a transfer. Times out by counting idle looks, not time: a program stopped meanwhile has missed nothing. */
async function watched(transfer: Transfer, timeoutMs: number): Promise<Moved> {
  let seen = transfer.activity
  let idle = 0
  const timer = setInterval(() => {
    idle = transfer.activity === seen ? idle + 1 : 0
    seen = transfer.activity
    if (idle > looksPerTimeout) transfer.fail(new NoAnswer())
  }, timeoutMs / looksPerTimeout)
  try {
    return await transfer.run()
  } finally {
    clearInterval(timer)
  }
}

const looksPerTimeout = 10

async function closeBoth(ends: Ends | null): Promise<void> {
  for (const link of ends ? [ends.source, ends.target] : []) await link.close().catch(() => link.destroy())
}

/**
 * True if the broker accepts a user_id of another user from us, as with the tag `impersonator`. Tries it with a message
 * that goes nowhere, since nothing else shows it over AMQP. Leaves the channel as it was.
 */
async function mayImpersonate(link: Link, user: string): Promise<boolean> {
  try {
    // the broker answers a channel's methods in their order
    await link.ask(method.confirmSelectOk, (out) => {
      writeNowhere(out, channel, `${user}.other`)
      out.method(channel, method.confirmSelect).u8(0).end()
    })
  } catch (error) {
    // 406; or 403 if we may not publish to the nameless exchange at all
    if (!(error instanceof ClosedByBroker)) throw error
    await link.openChannel()
    return false
  }
  // the new channel counts from 1 again
  await link.closeChannel()
  await link.openChannel()
  return true
}

/**
 * Reads what a queue holds, and returns it to its place. Gets it one by one: a queue that vanishes with its last
 * consumer must not have had one. The next reader sees the messages as redelivered.
 */
async function readSeen(link: Link, queue: string, ready: number, seen: Seen): Promise<void> {
  await getMessages(link, queue, ready, {
    onHead: ({ routingKey, properties }) => seen.beginKnown(routingKey.subarray(1), properties),
    onBody: (bytes, start, end) => seen.body(bytes, start, end),
    onEnd: () => void seen.end(false),
  })
  await link.closeChannel()
  await link.openChannel()
}
