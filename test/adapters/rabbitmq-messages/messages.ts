import type { RawMessage } from './raw.ts'

/** What a message can carry, as bytes of its header frame. */
export interface Parts {
  contentType?: string
  contentEncoding?: string
  /** bytes of the table, without its length */
  headers?: Buffer
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

const flags: readonly (readonly [keyof Parts, number])[] = [
  ['contentType', 0x8000],
  ['contentEncoding', 0x4000],
  ['headers', 0x2000],
  ['deliveryMode', 0x1000],
  ['priority', 0x0800],
  ['correlationId', 0x0400],
  ['replyTo', 0x0200],
  ['expiration', 0x0100],
  ['messageId', 0x0080],
  ['timestamp', 0x0040],
  ['type', 0x0020],
  ['userId', 0x0010],
  ['appId', 0x0008],
  ['clusterId', 0x0004],
]

export function propertiesOf(parts: Parts): Buffer {
  const values = flags.flatMap(([name, flag]) => {
    const value = parts[name]
    return value === undefined ? [] : [{ flag, bytes: bytesOf(name, value) }]
  })
  const head = Buffer.alloc(2)
  head.writeUInt16BE(values.reduce((all, { flag }) => all | flag, 0))
  return Buffer.concat([head, ...values.map(({ bytes }) => bytes)])
}

function bytesOf(name: keyof Parts, value: string | number | bigint | Buffer): Buffer {
  if (Buffer.isBuffer(value)) return Buffer.concat([u32(value.length), value])
  if (typeof value === 'number') return Buffer.of(value)
  if (typeof value === 'bigint') return u64(value)
  const text = Buffer.from(value, 'latin1')
  return Buffer.concat([Buffer.of(text.length), text])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}

/** One header: its name, the letter of its type, its value. */
export function header(name: string | Buffer, type: string, value: Buffer): Buffer {
  const bytes = Buffer.from(name)
  return Buffer.concat([Buffer.of(bytes.length), bytes, Buffer.from(type), value])
}

export function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([u32(bytes.length), bytes])
}

const every = [
  header('boolean', 't', Buffer.of(1)),
  header('int8', 'b', Buffer.of(0x80)),
  header('uint8', 'B', Buffer.of(0xff)),
  header('int16', 's', Buffer.of(0x80, 0)),
  header('uint16', 'u', Buffer.of(0xff, 0xfe)),
  header('int32', 'I', Buffer.of(0x80, 0, 0, 1)),
  header('uint32', 'i', Buffer.of(0xff, 0, 0, 1)),
  header('small in 64 bits', 'l', u64(7n)),
  header('above 2^53', 'l', u64(9_007_199_254_740_993n)),
  header('float', 'f', Buffer.of(0x3d, 0xcc, 0xcc, 0xcd)),
  header('double', 'd', Buffer.of(0x3f, 0xf0, 0, 0, 0, 0, 0, 0)),
  header('decimal', 'D', Buffer.of(2, 0, 0, 1, 0)),
  header('timestamp', 'T', u64(1_700_000_000n)),
  header('void', 'V', Buffer.alloc(0)),
  header('text', 'S', text('Привет')),
  header('no UTF-8', 'S', text(Buffer.of(0xff, 0xfe, 0, 0xc3, 0x28))),
  header('binary', 'x', text(Buffer.of(0, 1, 2, 0xff))),
  header('array', 'A', text(Buffer.concat([Buffer.from('s\u0000\u0001'), Buffer.from('V')]))),
  header('table', 'F', text(header('inner', 'F', text(header('deep', 'l', u64(1n)))))),
  header(Buffer.of(0xff, 0xfe), 'b', Buffer.of(1)),
]

/** Messages of every kind that a queue can hold, for `queue`; `user` is who publishes them. */
export function awkward(queue: string, user: string): readonly RawMessage[] {
  const message = (parts: Parts, body: Buffer = Buffer.from('body'), routingKey = queue): RawMessage => ({
    exchange: '',
    routingKey,
    properties: propertiesOf(parts),
    body,
  })
  return [
    message({}),
    message({}, Buffer.alloc(0)),
    message({ headers: Buffer.alloc(0) }),
    message({ deliveryMode: 1 }),
    message({ deliveryMode: 2, priority: 255 }),
    ...every.map((one) => message({ headers: one })),
    message({ headers: Buffer.concat(every), deliveryMode: 2 }),
    message({
      headers: header(
        'CC',
        'A',
        text(Buffer.concat([Buffer.from('S'), text('nowhere'), Buffer.from('S'), text(`${queue}.copy`)])),
      ),
    }),
    message({ headers: header('BCC', 'A', text(Buffer.concat([Buffer.from('S'), text('nowhere')]))) }),
    message({
      headers: header('x-death', 'A', text(Buffer.concat([Buffer.from('F'), text(header('count', 'l', u64(3n)))]))),
    }),
    message({ headers: header('long', 'S', text(Buffer.alloc(60_000, 'h'))) }),
    message(
      { headers: header('as long as fits', 'S', text(Buffer.alloc(130_950, 'h'))), deliveryMode: 1 },
      Buffer.alloc(200_000, 'b'),
    ),
    message({ headers: header('as long as fits', 'S', text(Buffer.alloc(130_950, 'h'))) }, Buffer.alloc(0)),
    message({ expiration: '86400000', userId: user }),
    message({
      contentType: 'application/json',
      contentEncoding: 'utf-8',
      headers: Buffer.concat(every),
      deliveryMode: 1,
      priority: 3,
      correlationId: 'c\u00ff',
      replyTo: 'r',
      expiration: '3600000',
      messageId: 'm',
      timestamp: 2n ** 62n,
      type: 't',
      userId: user,
      appId: 'a',
      clusterId: 'x',
    }),
    message({ contentType: 'x'.repeat(255), appId: 'y'.repeat(255) }, Buffer.from([0, 0xff, 0xce])),
    message({ deliveryMode: 2 }, Buffer.alloc(10_000_000, 'z')),
    message({ deliveryMode: 1 }, Buffer.alloc(131_064, 'f')),
    message({ deliveryMode: 1 }, Buffer.alloc(131_065, 'f')),
  ]
}
