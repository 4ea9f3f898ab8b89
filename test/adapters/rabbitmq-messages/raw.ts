import { createHash } from 'node:crypto'
import { Confirms, Deliveries } from '../../../src/adapters/rabbitmq/messages/delivery.ts'
import { basicClass, FrameWriter, headerFrame, method } from '../../../src/adapters/rabbitmq/messages/frames.ts'
import { Link, channel } from '../../../src/adapters/rabbitmq/messages/link.ts'
import { consume, look } from '../../../src/adapters/rabbitmq/messages/queues.ts'
import type { BrokerEndpoint } from '../../../src/core/endpoint.ts'
import type { FreshVhost } from '../../servers/index.ts'

/** A message as its bytes. */
export interface RawMessage {
  exchange: string
  routingKey: string
  /** flags and values, as in the header frame */
  properties: Buffer
  body: Buffer
}

/** Publishes messages as the bytes they are, and waits until the broker has them. */
export async function publishRaw(endpoint: BrokerEndpoint, messages: readonly RawMessage[]): Promise<void> {
  const link = await Link.open(endpoint, 20_000)
  await link.openChannel()
  await link.ask(method.confirmSelectOk, (out) => out.method(channel, method.confirmSelect).u8(0).end())
  const confirms = new Confirms()
  let done: () => void = () => undefined
  await new Promise<void>((resolve, reject) => {
    done = resolve
    link.use({
      onFrame(_, __, bytes, start) {
        if (bytes.readUInt32BE(start) !== method.ack)
          return reject(new Error(`not confirmed: ${bytes.toString('latin1', start, start + 60)}`))
        confirms.confirm(Number(bytes.readBigUInt64BE(start + 4)), bytes[start + 12] === 1)
        if (confirms.upTo >= messages.length) done()
      },
      onPause: () => undefined,
      onFailure: reject,
    })
    const out = new FrameWriter()
    for (const { exchange, routingKey, properties, body } of messages) {
      out.method(channel, method.publish).u16(0).short(exchange).short(Buffer.from(routingKey, 'latin1')).u8(1).end()
      out.begin(headerFrame, channel).u16(basicClass).u16(0).u64(body.length).bytes(properties).end()
      for (let at = 0; at < body.length; at += 100_000) out.body(channel, body, at, Math.min(at + 100_000, body.length))
    }
    link.send(out)
  })
  await link.close()
}

/** Takes everything out of a queue; `keep`: and puts it back in its place. */
export async function drainRaw(
  endpoint: BrokerEndpoint,
  queue: string,
  { keep = false } = {},
): Promise<readonly RawMessage[]> {
  const link = await Link.open(endpoint, 20_000)
  await link.openChannel()
  const { ready } = await look(link, queue)
  const messages: RawMessage[] = []
  if (ready > 0) {
    await new Promise<void>((resolve, reject) => {
      let body: Buffer[] = []
      let current: Omit<RawMessage, 'body'> | null = null
      const deliveries = new Deliveries({
        onHead({ exchange, routingKey, properties: { bytes, start, end } }) {
          body = []
          current = {
            exchange: exchange.toString('latin1', 1),
            routingKey: routingKey.toString('latin1', 1),
            properties: Buffer.from(bytes.subarray(start, end)),
          }
        },
        onBody: (bytes, start, end) => void body.push(Buffer.from(bytes.subarray(start, end))),
        onEnd() {
          if (current) messages.push({ ...current, body: Buffer.concat(body) })
          if (messages.length === ready) resolve()
        },
        onCancel: () => reject(new Error('cancelled')),
      })
      link.use({
        onFrame: (type, _, bytes, start, end) => deliveries.frame(type, bytes, start, end),
        onPause: () => undefined,
        onFailure: reject,
      })
      const out = new FrameWriter()
      consume(out, { queue, consumer: 1, prefetch: 0, exclusive: false })
      link.send(out)
    })
    link.use(null)
    if (!keep) {
      link.send(new FrameWriter().method(channel, method.ack).u64(0).u8(1).end())
      await look(link, queue)
    }
    await link.closeChannel()
  }
  await link.close()
  return messages
}

/** How many messages a queue holds ready. */
export async function readyIn(endpoint: BrokerEndpoint, queue: string): Promise<number> {
  const link = await Link.open(endpoint, 20_000)
  await link.openChannel()
  const { ready } = await look(link, queue)
  await link.close()
  return ready
}

/** A durable classic queue. */
export async function makeQueue(
  on: FreshVhost,
  queue: string,
  table: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await on.manage('PUT', `/api/queues/${on.vhost}/${encodeURIComponent(queue)}`, {
    durable: true,
    arguments: { 'x-queue-type': 'classic', ...table },
  })
}

/** Messages that tell themselves apart by their body: '1', '2', … */
export function numbered(queue: string, count: number): readonly RawMessage[] {
  return Array.from({ length: count }, (_, index) => ({
    exchange: '',
    routingKey: queue,
    properties: Buffer.from([0x10, 0x00, 2]),
    body: Buffer.from(String(index + 1)),
  }))
}

export function bodies(messages: readonly RawMessage[]): string[] {
  return messages.map(({ body }) => body.toString())
}

/** What has to stay: everything but the exchange; large bodies as their sum. */
export function kept(messages: readonly RawMessage[]): readonly unknown[] {
  return messages.map(({ routingKey, properties, body }) => ({
    routingKey,
    properties: persistent(properties).toString('latin1'),
    body: `${body.length} ${createHash('sha256').update(body).digest('hex')}`,
  }))
}

/** The same properties with delivery_mode 2, made in another way than the mover does it. */
function persistent(properties: Buffer): Buffer {
  const flags = properties.readUInt16BE(0)
  let at = 2
  for (const flag of [0x8000, 0x4000]) if (flags & flag) at += 1 + (properties[at] ?? 0)
  if (flags & 0x2000) at += 4 + properties.readUInt32BE(at)
  const rest = properties.subarray(flags & 0x1000 ? at + 1 : at)
  const head = Buffer.alloc(2)
  head.writeUInt16BE(flags | 0x1000)
  return Buffer.concat([head, properties.subarray(2, at), Buffer.of(2), rest])
}
