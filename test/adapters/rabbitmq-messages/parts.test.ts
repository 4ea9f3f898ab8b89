import { describe, expect, test } from 'vitest'
import { Confirms, Window } from '../../../src/adapters/rabbitmq/messages/delivery.ts'
import {
  findEnvelope,
  readEnvelope,
  writeHeld,
  writeRestored,
} from '../../../src/adapters/rabbitmq/messages/envelope.ts'
import { FrameReader, FrameWriter } from '../../../src/adapters/rabbitmq/messages/frames.ts'
import { awkward, propertiesOf } from './messages.ts'

const frameMax = 131_072

interface Frame {
  type: number
  payload: Buffer
}

function framesIn(chunks: readonly Buffer[]): readonly Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader()
  for (const chunk of chunks) {
    reader.read(
      chunk,
      (type, _, bytes, start, end) => void frames.push({ type, payload: Buffer.from(bytes.subarray(start, end)) }),
    )
  }
  return frames
}

/** compared in a moment, which buffers are not */
function texts(frames: readonly Frame[]): readonly string[] {
  return frames.map(({ type, payload }) => `${type} ${payload.toString('latin1')}`)
}

describe('frames', () => {
  const out = new FrameWriter(64)
  const large = Buffer.alloc(20_000, 'l')
  out
    .method(1, 0x3c003c)
    .u64(2 ** 53 - 1)
    .short('key')
    .long('text')
    .end()
  out.body(1, Buffer.from('abc'), 1, 2).body(1, large, 0, large.length).body(1, Buffer.from('abc'), 0, 0)
  const all = Buffer.concat(out.take())
  const expected = [
    { type: 1, payload: Buffer.from('003c003c001fffffffffffff036b6579000000047465787400', 'hex').subarray(0, -1) },
    { type: 3, payload: Buffer.from('b') },
    { type: 3, payload: large },
    { type: 3, payload: Buffer.alloc(0) },
  ]

  test('are the same however they arrive', () => {
    expect(out.isEmpty).toBe(true)
    expect(texts(framesIn([all]))).toEqual(texts(expected))
    for (let at = 1; at < 60; at += 1)
      expect(texts(framesIn([all.subarray(0, at), all.subarray(at)]))).toEqual(texts(expected))
    const pieces = Array.from({ length: all.length / 10 + 1 }, (_, index) => all.subarray(index * 10, index * 10 + 10))
    expect(texts(framesIn(pieces))).toEqual(texts(expected))
  })

  test('that do not end where they say are refused', () => {
    const broken = Buffer.from(all)
    broken[7 + 24] = 0
    expect(() => framesIn([broken])).toThrow('Invalid frame')
  })
})

describe('an envelope', () => {
  const held = awkward('queue', 'user').map(({ properties, routingKey }) => ({
    properties,
    routingKey: Buffer.from(routingKey),
  }))

  test.each(held.map((message, index) => ({ ...message, index })))(
    'message $index comes out as it went in',
    ({ properties, routingKey }) => {
      const short = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes])
      const out = new FrameWriter()
      const head = {
        exchange: short(Buffer.from('from')),
        routingKey: short(routingKey),
        properties: { bytes: properties, start: 0, end: properties.length },
        bodyBytes: 5,
      }
      const mark = { attempt: '00112233aabbccdd', place: 70_000, redelivered: true }
      writeHeld(out, { channel: 1, exchange: '', routingKey: 'held' }, head, mark, frameMax)
      const [, header, ...before] = framesIn(out.take())
      expect([header, ...before].every((frame) => (frame?.payload.length ?? 0) + 8 <= frameMax)).toBe(true)
      const payload = header?.payload ?? Buffer.alloc(0)
      const found = findEnvelope({ bytes: payload, start: 12, end: payload.length })
      const body = Buffer.concat(before.map((frame) => frame.payload))
      const envelope = found && 'bytesBeforeBody' in found ? readEnvelope(body, 0, found.bytesBeforeBody) : found
      expect(Number(payload.readBigUInt64BE(4))).toBe(5 + body.length)
      expect(envelope?.routingKey).toEqual(routingKey)
      expect(envelope?.mark).toEqual(mark)
      const { bytes, start, end } = envelope?.properties ?? { bytes: Buffer.alloc(0), start: 0, end: 0 }
      expect(bytes.subarray(start, end).equals(properties)).toBe(true)
    },
  )

  test.each([
    { before: {}, after: { deliveryMode: 2 } },
    { before: { deliveryMode: 1, priority: 4 }, after: { deliveryMode: 2, priority: 4 } },
    {
      before: { headers: Buffer.alloc(0), userId: 'user' },
      after: { headers: Buffer.alloc(0), deliveryMode: 2, userId: 'user' },
    },
    { before: { userId: 'other', type: 't', clusterId: 'c' }, after: { type: 't', deliveryMode: 2, clusterId: 'c' } },
    {
      before: { correlationId: 'c', replyTo: 'r', timestamp: 5n, userId: 'user2' },
      after: { correlationId: 'c', replyTo: 'r', timestamp: 5n, deliveryMode: 2 },
    },
  ])('$before becomes $after', ({ before, after }) => {
    const bytes = propertiesOf(before)
    const out = new FrameWriter()
    const isWithout = writeRestored(
      out,
      { channel: 1, exchange: 'e' },
      { mark: null, routingKey: Buffer.from('k'), properties: { bytes, start: 0, end: bytes.length } },
      9,
      'user',
    )
    expect(isWithout).toBe('userId' in before && before.userId !== 'user')
    expect(framesIn(out.take())[1]?.payload.subarray(12)).toEqual(propertiesOf(after))
  })

  test.each([
    { what: 'no headers', properties: propertiesOf({ contentType: 'x' }) },
    { what: 'other headers', properties: propertiesOf({ headers: Buffer.from('\u0001aV\u0001bt\u0001', 'latin1') }) },
    {
      what: 'a header of a type that is not known',
      properties: propertiesOf({ headers: Buffer.from('\u0001a?', 'latin1') }),
    },
  ])('is not in a message with $what', ({ properties }) => {
    expect(findEnvelope({ bytes: properties, start: 0, end: properties.length })).toBe(null)
  })

  test('of the former version is read', () => {
    const bytes = Buffer.from([1, 0, 1, 107, 0x10, 0, 2])
    const envelope = readEnvelope(bytes, 0, bytes.length)
    expect({ ...envelope, routingKey: envelope?.routingKey.toString() }).toEqual({
      mark: null,
      routingKey: 'k',
      properties: { bytes, start: 4, end: 7 },
    })
  })

  test('of another version, or cut off, is not read', () => {
    expect(readEnvelope(Buffer.from([3, 0, 0, 0, 0]), 0, 5)).toBe(null)
    expect(readEnvelope(Buffer.from([2, 0, 0, 0, 0]), 0, 5)).toBe(null)
    expect(readEnvelope(Buffer.from([1, 0, 5, 0, 0]), 0, 5)).toBe(null)
  })
})

describe('confirmations', () => {
  type Said = readonly ['ack' | 'nack', number, boolean]
  const table: { said: readonly Said[]; upTo: number; answered: number }[] = [
    {
      said: [
        ['ack', 1, false],
        ['ack', 2, false],
      ],
      upTo: 2,
      answered: 2,
    },
    {
      said: [
        ['ack', 3, false],
        ['ack', 2, false],
      ],
      upTo: 0,
      answered: 0,
    },
    {
      said: [
        ['ack', 3, false],
        ['ack', 2, false],
        ['ack', 1, false],
      ],
      upTo: 3,
      answered: 3,
    },
    { said: [['ack', 5, true]], upTo: 5, answered: 5 },
    {
      said: [
        ['ack', 7, false],
        ['ack', 3, false],
        ['ack', 6, true],
      ],
      upTo: 7,
      answered: 7,
    },
    {
      said: [
        ['ack', 5, true],
        ['ack', 2, false],
        ['ack', 3, true],
      ],
      upTo: 5,
      answered: 5,
    },
    {
      said: [
        ['nack', 3, false],
        ['ack', 5, true],
      ],
      upTo: 2,
      answered: 5,
    },
    {
      said: [
        ['ack', 2, true],
        ['nack', 4, true],
        ['ack', 6, true],
      ],
      upTo: 2,
      answered: 6,
    },
    { said: [['nack', 1, false]], upTo: 0, answered: 1 },
  ] // prettier-ignore
  test.each(table)('$said: all up to $upTo, of $answered', ({ said, upTo, answered }) => {
    const confirms = new Confirms()
    for (const [what, tag, multiple] of said) confirms[what === 'ack' ? 'confirm' : 'refuse'](tag, multiple)
    expect({ upTo: confirms.upTo, answered: confirms.answered }).toEqual({ upTo, answered })
  })
})

describe('the window', () => {
  const sizesOf = (window: Window, messages: readonly number[]): number[] =>
    messages.flatMap((bytes) => (window.saw(bytes) ? [window.size] : []))

  test('grows with small messages, once', () => {
    const window = new Window()
    expect(window.size).toBe(16)
    expect(
      sizesOf(
        window,
        Array.from({ length: 10_000 }, () => 1000),
      ),
    ).toEqual([4000])
  })

  test('holds few large messages, and shrinks when they come after small ones', () => {
    const large = Array.from({ length: 100 }, () => 10_000_000)
    expect(sizesOf(new Window(), large).at(-1)).toBe(6)
    const window = new Window()
    sizesOf(
      window,
      Array.from({ length: 100 }, () => 100),
    )
    const shrinking = sizesOf(window, large)
    expect(shrinking[0]).toBeLessThan(200)
    expect(shrinking.at(-1)).toBeLessThanOrEqual(12)
  })

  test('is never empty', () => {
    const window = new Window()
    sizesOf(window, [1e9, 1e9, 1e9])
    expect(window.size).toBe(1)
  })
})
