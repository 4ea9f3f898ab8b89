import type { FrameWriter } from './frames.ts'
import { readShort } from './frames.ts'
import { channel, writeTable } from './link.ts'
import type { Link } from './link.ts'
import { method } from './methods.ts'

/** The number of a queue's ready messages, and of its consumers. */
export interface Look {
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
