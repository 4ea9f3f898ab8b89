import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import type { Fits } from '../../../core/message-mover.ts'
import type { DeliveryUser } from './delivery.ts'
import { Deliveries } from './delivery.ts'
import { findEnvelope } from './envelope.ts'
import { FrameWriter, method, methodFrame, readShort } from './frames.ts'
import { channel, Link, NoAnswer, writeTable } from './link.ts'

/** messages requested at once */
const batch = 500

/**
 * Gets `count` messages of a queue, or as many as it has, and acknowledges none. Closing the channel returns them to
 * the queue.
 */
export async function getMessages(
  link: Link,
  queue: string,
  count: number,
  user: Pick<DeliveryUser, 'onHead' | 'onBody' | 'onEnd'>,
): Promise<void> {
  for (let left = count; left > 0; left -= batch) await getSome(link, queue, Math.min(left, batch), user)
}

async function getSome(
  link: Link,
  queue: string,
  count: number,
  user: Pick<DeliveryUser, 'onHead' | 'onBody' | 'onEnd'>,
): Promise<void> {
  if (!link.isChannelOpen) throw new NoAnswer()
  let missing = count
  let isDone: () => void = () => undefined
  const one = (): void => {
    missing -= 1
    if (missing === 0) isDone()
  }
  const deliveries = new Deliveries({
    ...user,
    onEnd() {
      user.onEnd()
      one()
    },
    onCancel: () => undefined,
  })
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      isDone = resolve
      timer = setTimeout(() => reject(new NoAnswer()), link.timeoutMs)
      link.use({
        onFrame(type, _, bytes, start, end) {
          timer?.refresh()
          // a message expired meanwhile
          if (type === methodFrame && bytes.readUInt32BE(start) === method.getEmpty) one()
          else deliveries.frame(type, bytes, start, end)
        },
        onPause: () => undefined,
        onFailure: reject,
      })
      const out = new FrameWriter()
      for (let index = 0; index < count; index += 1) out.method(channel, method.get).u16(0).short(queue).u8(0).end()
      link.send(out)
    })
  } finally {
    clearTimeout(timer)
    link.use(null)
  }
}

/** The number of a queue's ready messages, and of its consumers. */
interface Look {
  ready: number
  consumers: number
}

const passive = 1
const durable = 2

/** Counts a queue's messages and consumers. Throws a `ClosedByBroker` with 404 if the queue is missing. */
export async function look(link: Link, queue: string): Promise<Look> {
  return declare(link, queue, passive, {})
}

/** Declares a durable classic queue, or counts the one that exists. */
export async function declareHolding(link: Link, queue: string): Promise<Look> {
  return declare(link, queue, durable, { 'x-queue-type': 'classic' })
}

async function declare(
  link: Link,
  queue: string,
  bits: number,
  table: Readonly<Record<string, string>>,
): Promise<Look> {
  const answer = await link.ask(method.queueDeclareOk, (out) => {
    out.method(channel, method.queueDeclare).u16(0).short(queue).u8(bits)
    writeTable(out, table)
    out.end()
  })
  const { end } = readShort(answer, 0)
  return { ready: answer.readUInt32BE(end), consumers: answer.readUInt32BE(end + 4) }
}

/**
 * Starts a consumer with at most `prefetch` unacknowledged messages. With `exclusive`, others may not read the queue.
 */
export function consume(
  out: FrameWriter,
  { queue, consumer, prefetch, exclusive }: { queue: string; consumer: number; prefetch: number; exclusive: boolean },
): void {
  out.method(channel, method.qos).u32(0).u16(prefetch).u8(0).end()
  out
    .method(channel, method.consume)
    .u16(0)
    .short(queue)
    .short(`mover-${consumer}`)
    .u8(exclusive ? 4 : 0)
  writeTable(out, {})
  out.end()
}

export function cancel(out: FrameWriter, consumer: number): void {
  out.method(channel, method.cancel).short(`mover-${consumer}`).u8(0).end()
}

/** Declares an exchange that routes everything to that queue only, whatever the routing key or CC. */
export async function openExchange(link: Link, exchange: string, queue: string): Promise<void> {
  await link.ask(method.exchangeDeclareOk, (out) => {
    out.method(channel, method.exchangeDeclare).u16(0).short(exchange).short('fanout').u8(autoDelete)
    writeTable(out, {})
    out.end()
  })
  await link.ask(method.queueBindOk, (out) => {
    out.method(channel, method.queueBind).u16(0).short(queue).short(exchange).short('').u8(0)
    writeTable(out, {})
    out.end()
  })
}

const autoDelete = 4

export async function removeExchange(link: Link, exchange: string): Promise<void> {
  await link.ask(method.exchangeDeleteOk, (out) => {
    out.method(channel, method.exchangeDelete).u16(0).short(exchange).u8(0).end()
  })
}

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
