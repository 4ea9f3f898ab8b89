import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import type { Fits } from '../../../core/message-mover.ts'
import { findEnvelope } from './envelope.ts'
import { getMessages } from './get.ts'
import { Link } from './link.ts'
import { look } from './queues.ts'

/**
 * Room in a queue that rejects messages beyond its bound. Until `close`, we hold its messages, which then do not count.
 */
export interface Room {
  /** Messages that may arrive before `take` */
  atOnce: number
  /** Takes messages that have arrived */
  take(count: number): Promise<void>
  /** Returns all messages to their place; the queue may then hold more than its bound. */
  close(): Promise<void>
}

interface Way {
  from: string
  to: string
}

/** most messages that may arrive at once */
const mostAtOnce = 500

/**
 * Makes room in the queue `to` if not all of `from` fits; null if it does. Gets messages one by one, since a queue that
 * vanishes with its last consumer must not have had one. Leaves the queues of `reading` as they were.
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
  // measuring marks messages as redelivered, and after a cut that mark shows what may be there twice
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

/** Measures bodies without envelopes, as the broker counts only bodies. */
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
        // when the connection ends, the broker returns the messages itself
        link.destroy()
      }
    },
  }
}
