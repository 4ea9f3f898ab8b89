import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * AMQP 0-9-1 as its specification writes it, for tests alone: nothing in it comes from `src` or from a library, so that
 * a fault of theirs does not hide itself. One channel, one request at a time.
 */

/** A value of a table with its type: the letter that stands before it on the wire, and what it holds. */
export type WireValue =
  | readonly ['t', boolean]
  | readonly ['b' | 'B' | 's' | 'u' | 'I' | 'i' | 'f' | 'd', number]
  | readonly ['l' | 'T', bigint]
  | readonly ['D', readonly [scale: number, value: number]]
  | readonly ['S' | 'x', string | Buffer]
  | readonly ['F', WireTable]
  | readonly ['A', readonly WireValue[]]
  | readonly ['V']
export type WireTable = readonly (readonly [name: string, value: WireValue])[]

/** A message as the bytes that came: properties are flags and values as in the header frame. */
interface WireMessage {
  exchange: string
  routingKey: string
  redelivered: boolean
  properties: Buffer
  body: Buffer
}

interface Frame {
  type: number
  payload: Buffer
}

export interface Wire {
  declareQueue(
    name: string,
    options: { durable?: boolean; exclusive?: boolean; autoDelete?: boolean },
    table?: WireTable,
  ): Promise<void>
  declareExchange(
    name: string,
    type: string,
    options: { durable?: boolean; autoDelete?: boolean; internal?: boolean },
    table?: WireTable,
  ): Promise<void>
  bindQueue(queue: string, exchange: string, routingKey: string | Buffer, table?: WireTable): Promise<void>
  bindExchange(destination: string, source: string, routingKey: string | Buffer, table?: WireTable): Promise<void>
  /** returns once the broker has it, or throws where it refuses it or no queue takes it */
  publish(exchange: string, routingKey: string, properties: Buffer, body: Buffer): Promise<void>
  /** without acknowledging it; null: the queue is empty */
  get(queue: string): Promise<WireMessage | null>
  close(): Promise<void>
}

/** Opens a connection with one channel that confirms. `url`: amqp://USER:PASSWORD@HOST:PORT/VHOST */
export async function wire(url: string): Promise<Wire> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.setNoDelay(true)
  const next = framesOf(socket)
  const send = (type: number, channel: number, payload: Buffer): void =>
    void socket.write(Buffer.concat([u8(type), u16(channel), u32(payload.length), payload, u8(0xce)]))
  const call = (channel: number, id: readonly [number, number], ...parts: Buffer[]): void =>
    send(1, channel, Buffer.concat([u16(id[0]), u16(id[1]), ...parts]))
  /** the next method, which has to be one of these; a refusal of the broker is thrown */
  const answer = async (...wanted: readonly string[]): Promise<{ id: string; args: Buffer }> => {
    const { type, payload } = await next()
    const id = type === 1 ? `${payload.readUInt16BE(0)}.${payload.readUInt16BE(2)}` : `frame of type ${type}`
    if (wanted.includes(id)) return { id, args: payload.subarray(4) }
    if (id === '20.40' || id === '10.50') throw new Error(`${payload.readUInt16BE(4)} ${shortAt(payload, 6).text}`)
    throw new Error(`${wanted.join(' or ')} was awaited, and ${id} came`)
  }
  const ask = async (id: readonly [number, number], ok: string, ...parts: Buffer[]): Promise<void> => {
    call(1, id, ...parts)
    await answer(ok)
  }

  socket.write(Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1'))
  await answer('10.10')
  call(
    0,
    [10, 11],
    table([]),
    short('PLAIN'),
    long(`\u0000${decodeURIComponent(username)}\u0000${decodeURIComponent(password)}`),
    short('en_US'),
  )
  const { args } = await answer('10.30')
  const frameMax = args.readUInt32BE(2)
  call(0, [10, 31], u16(args.readUInt16BE(0)), u32(frameMax), u16(0))
  call(0, [10, 40], short(decodeURIComponent(pathname.slice(1))), short(''), u8(0))
  await answer('10.41')
  await ask([20, 10], '20.11', short(''))
  await ask([85, 10], '85.11', u8(0))

  return {
    declareQueue: async (name, { durable = false, exclusive = false, autoDelete = false }, given = []) =>
      ask([50, 10], '50.11', u16(0), short(name), bits(false, durable, exclusive, autoDelete, false), table(given)),
    declareExchange: async (name, type, { durable = false, autoDelete = false, internal = false }, given = []) =>
      ask(
        [40, 10],
        '40.11',
        u16(0),
        short(name),
        short(type),
        bits(false, durable, autoDelete, internal, false),
        table(given),
      ),
    bindQueue: async (queue, exchange, key, given = []) =>
      ask([50, 20], '50.21', u16(0), short(queue), short(exchange), short(key), u8(0), table(given)),
    bindExchange: async (destination, source, key, given = []) =>
      ask([40, 30], '40.31', u16(0), short(destination), short(source), short(key), u8(0), table(given)),
    async publish(exchange, routingKey, properties, body) {
      call(1, [60, 40], u16(0), short(exchange), short(routingKey), bits(true))
      send(2, 1, Buffer.concat([u16(60), u16(0), u64(BigInt(body.length)), properties]))
      const most = frameMax - 8
      for (let at = 0; at < body.length; at += most) send(3, 1, body.subarray(at, at + most))
      await answer('60.80')
    },
    async get(queue) {
      call(1, [60, 70], u16(0), short(queue), u8(0))
      const { id, args: got } = await answer('60.71', '60.72')
      if (id === '60.72') return null
      const exchange = shortAt(got, 9)
      const routingKey = shortAt(got, exchange.end)
      const head = await next()
      const size = Number(head.payload.readBigUInt64BE(4))
      const body: Buffer[] = []
      for (let length = 0; length < size; ) {
        const { payload } = await next()
        body.push(payload)
        length += payload.length
      }
      return {
        exchange: exchange.text,
        routingKey: routingKey.text,
        redelivered: got[8] === 1,
        properties: head.payload.subarray(12),
        body: Buffer.concat(body),
      }
    },
    async close() {
      call(0, [10, 50], u16(200), short(''), u16(0), u16(0))
      await answer('10.51').catch(() => undefined)
      socket.destroy()
    },
  }
}

/** Cuts what comes into frames. The function gives the next one, and throws once there is none any more. */
function framesOf(socket: Socket): () => Promise<Frame> {
  const frames: Frame[] = []
  let rest: Buffer = Buffer.alloc(0)
  let ended: Error | null = null
  let wake: () => void = () => undefined
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 7 && rest.length >= 8 + rest.readUInt32BE(3)) {
      const length = rest.readUInt32BE(3)
      frames.push({ type: rest[0]!, payload: Buffer.from(rest.subarray(7, 7 + length)) })
      rest = rest.subarray(8 + length)
    }
    wake()
  })
  const end = (reason: Error): void => {
    ended ??= reason
    wake()
  }
  socket.on('error', end)
  socket.on('close', () => end(new Error('the broker closed the connection')))
  return async () => {
    for (;;) {
      const frame = frames.shift()
      if (frame) return frame
      if (ended) throw ended
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
}

export interface WireProperties {
  contentType?: string
  contentEncoding?: string
  headers?: WireTable
  deliveryMode?: number
  priority?: number
  correlationId?: string
  replyTo?: string
  expiration?: string
  messageId?: string
  timestamp?: bigint
  type?: string
  userId?: string
  appId?: string
  clusterId?: string
}

const names = [
  'contentType',
  'contentEncoding',
  'headers',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'timestamp',
  'type',
  'userId',
  'appId',
  'clusterId',
] as const

/** As they stand in a header frame. */
export function wireProperties(given: WireProperties): Buffer {
  const present = names.filter((name) => given[name] !== undefined)
  const flags = present.reduce((sum, name) => sum | (1 << (15 - names.indexOf(name))), 0)
  const values = present.map((name): Buffer => {
    if (name === 'headers') return table(given.headers!)
    if (name === 'deliveryMode' || name === 'priority') return u8(given[name]!)
    return name === 'timestamp' ? u64(given.timestamp!) : short(given[name]!)
  })
  return Buffer.concat([u16(flags), ...values])
}

/** The same properties with this delivery mode. */
export function withDeliveryMode(properties: Buffer, mode: number): Buffer {
  const flags = properties.readUInt16BE(0)
  let at = 2
  for (const flag of [0x8000, 0x4000]) if ((flags & flag) !== 0) at += 1 + properties[at]!
  if ((flags & 0x2000) !== 0) at += 4 + properties.readUInt32BE(at)
  const after = (flags & 0x1000) === 0 ? at : at + 1
  return Buffer.concat([u16(flags | 0x1000), properties.subarray(2, at), u8(mode), properties.subarray(after)])
}

function table(given: WireTable): Buffer {
  return sized(Buffer.concat(given.flatMap(([name, value]) => [short(name), valueOf(value)])))
}

function valueOf(value: WireValue): Buffer {
  return Buffer.concat([Buffer.from(value[0]), heldBy(value)])
}

function heldBy(value: WireValue): Buffer {
  switch (value[0]) {
    case 't':
      return u8(value[1] ? 1 : 0)
    case 'b':
    case 'B':
      return u8(value[1] & 0xff)
    case 's':
    case 'u':
      return u16(value[1] & 0xffff)
    case 'I':
    case 'i':
      return u32(value[1] >>> 0)
    case 'l':
    case 'T':
      return u64(BigInt.asUintN(64, value[1]))
    case 'f':
      return filled(4, (bytes) => bytes.writeFloatBE(value[1]))
    case 'd':
      return filled(8, (bytes) => bytes.writeDoubleBE(value[1]))
    case 'D':
      return Buffer.concat([u8(value[1][0]), u32(value[1][1] >>> 0)])
    case 'S':
    case 'x':
      return long(value[1])
    case 'F':
      return table(value[1])
    case 'A':
      return sized(Buffer.concat(value[1].map(valueOf)))
    case 'V':
      return Buffer.alloc(0)
  } // prettier-ignore
}

function shortAt(bytes: Buffer, at: number): { text: string; end: number } {
  const end = at + 1 + bytes[at]!
  return { text: bytes.toString('latin1', at + 1, end), end }
}

function short(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([u8(bytes.length), bytes])
}

function long(text: string | Buffer): Buffer {
  return sized(Buffer.from(text))
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([u32(bytes.length), bytes])
}

function bits(...all: readonly boolean[]): Buffer {
  return u8(all.reduce((sum, is, index) => sum | (is ? 1 << index : 0), 0))
}

function u8(value: number): Buffer {
  return Buffer.of(value)
}

function u16(value: number): Buffer {
  return filled(2, (bytes) => bytes.writeUInt16BE(value))
}

function u32(value: number): Buffer {
  return filled(4, (bytes) => bytes.writeUInt32BE(value))
}

function u64(value: bigint): Buffer {
  return filled(8, (bytes) => bytes.writeBigUInt64BE(value))
}

function filled(length: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length)
  write(bytes)
  return bytes
}
