import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import type { Fits } from '../../../core/message-mover.ts'
import { findEnvelope } from './envelope.ts'
import { getMessages } from './get.ts'
import { Link } from './link.ts'
import { look } from './queues.ts'

/**
 * Room in a queue that refuses what is beyond its bound: what it holds is ours, and does not count, until it is closed.
 */
export interface Room {
  /** so many may come before they are taken */
  atOnce: number
  /** so many more have come */
  take(count: number): Promise<void>
  /** Gives all of it back to its place; so a queue may hold more than it takes. */
  close(): Promise<void>
}

interface Way {
  from: string
  to: string
}

/** how many messages come at once, at most */
const mostAtOnce = 500

/**
 * In the queue `to`, where not all that is in `from` fits; null: all does. Its messages are got one by one, since a
 * queue that vanishes with its last consumer must not have had one. `reading`: is put back as it was.
 */
export async function roomFor(
  way: Way,
  fits: Fits,
  { reading, endpoint, timeoutMs }: { reading: Link; endpoint: BrokerEndpoint; timeoutMs: number },
): Promise<Room | null> {
  const atOnce = await fittingAtOnce(way, fits, reading)
  return atOnce === null ? null : roomIn(way.to, atOnce, { endpoint, timeoutMs })
}

async function fittingAtOnce(
  { from, to }: Way,
  { messages, bytes, isCut }: Fits,
  reading: Link,
): Promise<number | null> {
  const [held, there] = [(await look(reading, from)).ready, (await look(reading, to)).ready]
  const byNumber = messages !== null && held + there > messages ? messages : null
  if (bytes === null) return byNumber === null ? null : within(byNumber)
  // what was delivered to us is marked so, and after a cut that mark tells what may be there twice
  if (isCut) return 1
  const sizes = { sum: 0, largest: 0 }
  for (const [queue, count] of [
    [from, held],
    [to, there],
  ] as const)
    await measure(reading, queue, count, sizes)
  const byBytes = sizes.sum > bytes ? Math.floor(bytes / sizes.largest) : null
  return byNumber === null && byBytes === null ? null : within(Math.min(byNumber ?? mostAtOnce, byBytes ?? mostAtOnce))
}

function within(count: number): number {
  return Math.max(1, Math.min(count, mostAtOnce))
}

/** The broker counts the bytes of bodies alone. */
async function measure(
  link: Link,
  queue: string,
  count: number,
  sizes: { sum: number; largest: number },
): Promise<void> {
  await getMessages(link, queue, count, {
    onHead({ properties, bodyBytes }) {
      const envelope = findEnvelope(properties)
      const size = bodyBytes - (envelope && 'bytesBeforeBody' in envelope ? envelope.bytesBeforeBody : 0)
      sizes.sum += size
      sizes.largest = Math.max(sizes.largest, size)
    },
    onBody: () => undefined,
    onEnd: () => undefined,
  })
  await link.closeChannel()
  await link.openChannel()
}

async function roomIn(
  queue: string,
  atOnce: number,
  { endpoint, timeoutMs }: { endpoint: BrokerEndpoint; timeoutMs: number },
): Promise<Room> {
  const link = await Link.open(endpoint, timeoutMs)
  const take = async (count: number): Promise<void> =>
    getMessages(link, queue, count, { onHead: () => undefined, onBody: () => undefined, onEnd: () => undefined })
  try {
    await link.openChannel()
    await take((await look(link, queue)).ready)
  } catch (error) {
    link.destroy()
    throw error
  }
  return {
    atOnce,
    take,
    async close() {
      try {
        await link.closeChannel()
        await link.close()
      } catch {
        // with the connection, the broker gives it back by itself
        link.destroy()
      }
    },
  }
}
