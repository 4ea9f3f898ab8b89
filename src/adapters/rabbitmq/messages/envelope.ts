import { nowhere } from '../../../knowledge/broker.ts'
import { headersOf, findHeader, writeHeaders, writePersistent, writeUserId } from './properties.ts'
import type { Properties } from './properties.ts'
import { basicClass, frameOverhead, FrameWriter, headerFrame, method } from './frames.ts'

/** A message as it was delivered, without its body. */
export interface Head {
  /** With its length before it, as it came; `routingKey` too */
  exchange: Buffer
  routingKey: Buffer
  properties: Properties
  bodyBytes: number
}

/** Identifies an envelope. */
export interface Mark {
  /** 16 hexadecimal digits */
  attempt: string
  /** within its attempt, from 1 */
  place: number
  /** True if it was delivered before: an earlier attempt may have put it aside too */
  redelivered: boolean
}

/** Where a message is published to. */
export interface Address {
  channel: number
  exchange: string
  routingKey: string | Buffer
}

/**
 * The header under which an envelope travels; its value is the envelope, or how many bytes of it are before the body.
 */
const envelopeHeader = 'testops-admin.envelope'
const version = 2
/** the version without a mark */
const formerVersion = 1
const attemptBytes = 8
/** version, attempt, place, flag */
const markBytes = 1 + attemptBytes + 4 + 1
/** class, weight, size, flags, lengths of table and name, type, length of the envelope, delivery mode, rounded up */
const holdingHeaderBytes = frameOverhead + envelopeHeader.length + 32

/**
 * Publishes the head of a message to hold. The envelope contains all that the broker would act on (expiration, CC,
 * user_id, priority). If it does not fit into a header frame, it goes before the body. The body's own frames come next.
 */
export function writeHeld(
  out: FrameWriter,
  { channel, exchange, routingKey }: Address,
  head: Head,
  mark: Mark,
  frameMax: number,
): void {
  const { start, end } = head.properties
  const length = markBytes + head.exchange.length + head.routingKey.length + end - start
  const isInHeader = length + holdingHeaderBytes <= frameMax
  writePublish(out, channel, exchange, routingKey, mandatory)
  beginHeader(out, channel, head.bodyBytes + (isInHeader ? 0 : length))
  writeHeaders(out, (table) => {
    const name = envelopeHeader.length + 1
    if (!isInHeader)
      return void table
        .u32(name + 5)
        .short(envelopeHeader)
        .u8(typeInt)
        .u32(length)
    table
      .u32(name + 5 + length)
      .short(envelopeHeader)
      .u8(typeBytes)
      .u32(length)
    writeEnvelope(table, head, mark)
  })
  out.end()
  if (isInHeader) return
  const before = new FrameWriter(length)
  writeEnvelope(before, head, mark)
  const envelope = Buffer.concat(before.take())
  const most = frameMax - frameOverhead
  for (let at = 0; at < length; at += most) out.body(channel, envelope, at, Math.min(at + most, length))
}

function writeEnvelope(
  out: FrameWriter,
  { exchange, routingKey, properties: { bytes, start, end } }: Head,
  { attempt, place, redelivered }: Mark,
): void {
  out
    .u8(version)
    .bytes(Buffer.from(attempt, 'hex'))
    .u32(place)
    .u8(redelivered ? 1 : 0)
    .bytes(exchange)
    .bytes(routingKey)
    .bytes(bytes, start, end)
}

/** Finds a held message's envelope, in its header or before its body; null if it has none. */
export function findEnvelope(properties: Properties): Envelope | { bytesBeforeBody: number } | null {
  const table = headersOf(properties)
  if (!table) return null
  const { bytes } = properties
  const at = findHeader(bytes, table, envelopeHeader)
  if (at === null) return null
  if (bytes[at] === typeInt) return { bytesBeforeBody: bytes.readUInt32BE(at + 1) }
  return bytes[at] === typeBytes ? readEnvelope(bytes, at + 5, at + 5 + bytes.readUInt32BE(at + 1)) : null
}

export interface Envelope {
  /** Null for the former version */
  mark: Mark | null
  /** without its length */
  routingKey: Buffer
  properties: Properties
}

/** Reads an envelope; null if this version cannot read it. */
export function readEnvelope(bytes: Buffer, start: number, end: number): Envelope | null {
  if (bytes[start] !== version && bytes[start] !== formerVersion) return null
  const exchange = bytes[start] === version ? start + markBytes : start + 1
  const routingKey = exchange + 1 + (bytes[exchange] ?? 0)
  const properties = routingKey + 1 + (bytes[routingKey] ?? 0)
  if (properties + 2 > end) return null
  const mark = bytes[start] === version ? readMark(bytes, start + 1) : null
  return { mark, routingKey: bytes.subarray(routingKey + 1, properties), properties: { bytes, start: properties, end } }
}

function readMark(bytes: Buffer, at: number): Mark {
  const place = at + attemptBytes
  return {
    attempt: bytes.toString('hex', at, place),
    place: bytes.readUInt32BE(place),
    redelivered: bytes[place + 4] === 1,
  }
}

/**
 * Publishes the head of a held message, as it was. `user` is the only name allowed in its user_id; null for any.
 * Returns true if the user_id is left out.
 */
export function writeRestored(
  out: FrameWriter,
  { channel, exchange }: Omit<Address, 'routingKey'>,
  envelope: Envelope,
  bodyBytes: number,
  user: string | null,
): boolean {
  writePublish(out, channel, exchange, envelope.routingKey, mandatory)
  beginHeader(out, channel, bodyBytes)
  const isWithout = writePersistent(out, envelope.properties, user)
  out.end()
  return isWithout
}

/**
 * Publishes an empty message that no queue takes. The broker confirms it anyway, so that confirmations keep counting
 * deliveries.
 */
export function writeNowhere(out: FrameWriter, channel: number, userId: string | null = null): void {
  writePublish(out, channel, '', nowhere, 0)
  beginHeader(out, channel, 0)
  if (userId === null) out.u16(0)
  else writeUserId(out, userId)
  out.end()
}

function writePublish(
  out: FrameWriter,
  channel: number,
  exchange: string,
  routingKey: string | Buffer,
  bits: number,
): void {
  out.method(channel, method.publish).u16(0).short(exchange).short(routingKey).u8(bits).end()
}

function beginHeader(out: FrameWriter, channel: number, bodyBytes: number): void {
  out.begin(headerFrame, channel).u16(basicClass).u16(0).u64(bodyBytes)
}

const mandatory = 1
const typeInt = 'I'.charCodeAt(0)
const typeBytes = 'x'.charCodeAt(0)
