import { headersOf, findHeader, writeHeaders, writePersistent } from './properties.ts'
import type { Properties } from './properties.ts'
import { frameOverhead, headerFrame } from './frames.ts'
import type { FrameWriter } from './frames.ts'
import { basicClass, method } from './methods.ts'

/** A message as it was delivered, without its body. */
export interface Head {
  /** with their lengths before them, as they came */
  exchange: Buffer
  routingKey: Buffer
  properties: Properties
  bodyBytes: number
}

/** Where a message is published to. */
export interface Address {
  channel: number
  exchange: string
  routingKey: string | Buffer
}

/** The header under which an envelope travels; its value is the envelope, or how many bytes of it are before the body. */
const envelopeHeader = 'testops-admin.envelope'
const version = 1
/** class, weight, size, flags, lengths of table and name, type, length of the envelope, delivery mode, rounded up */
const holdingHeaderBytes = frameOverhead + envelopeHeader.length + 32

/**
 * Publishes the head of a message that is to be held: all that the broker would act on (expiration, CC, user_id, priority) is
 * inside the envelope. What does not fit into a header frame goes before the body. The body's own frames come next.
 */
export function writeHeld(out: FrameWriter, { channel, exchange, routingKey }: Address, head: Head, frameMax: number): void {
  const { bytes, start, end } = head.properties
  const length = 1 + head.exchange.length + head.routingKey.length + end - start
  const isInHeader = length + holdingHeaderBytes <= frameMax
  writePublish(out, channel, exchange, routingKey)
  beginHeader(out, channel, head.bodyBytes + (isInHeader ? 0 : length))
  writeHeaders(out, (table) => {
    const name = envelopeHeader.length + 1
    if (!isInHeader) return void table.u32(name + 5).short(envelopeHeader).u8(typeInt).u32(length)
    table.u32(name + 5 + length).short(envelopeHeader).u8(typeBytes).u32(length)
    writeEnvelope(table, head)
  })
  out.end()
  if (isInHeader) return
  const envelope = Buffer.concat([Buffer.of(version), head.exchange, head.routingKey, bytes.subarray(start, end)])
  const most = frameMax - frameOverhead
  for (let at = 0; at < length; at += most) out.body(channel, envelope, at, Math.min(at + most, length))
}

function writeEnvelope(out: FrameWriter, { exchange, routingKey, properties: { bytes, start, end } }: Head): void {
  out.u8(version).bytes(exchange).bytes(routingKey).bytes(bytes, start, end)
}

/** Where a held message's envelope is: in its header, or before its body; null: it has none. */
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
  /** without its length */
  routingKey: Buffer
  properties: Properties
}

/** Null where it is none that this version can read. */
export function readEnvelope(bytes: Buffer, start: number, end: number): Envelope | null {
  if (bytes[start] !== version) return null
  const routingKey = start + 2 + (bytes[start + 1] ?? 0)
  const properties = routingKey + 1 + (bytes[routingKey] ?? 0)
  if (properties + 2 > end) return null
  return { routingKey: bytes.subarray(routingKey + 1, properties), properties: { bytes, start: properties, end } }
}

/** Publishes the head of a message that was held, as it was. True: without its user_id, which is not `user`. */
export function writeRestored(
  out: FrameWriter,
  { channel, exchange }: Omit<Address, 'routingKey'>,
  envelope: Envelope,
  bodyBytes: number,
  user: string,
): boolean {
  writePublish(out, channel, exchange, envelope.routingKey)
  beginHeader(out, channel, bodyBytes)
  const isWithout = writePersistent(out, envelope.properties, user)
  out.end()
  return isWithout
}

function writePublish(out: FrameWriter, channel: number, exchange: string, routingKey: string | Buffer): void {
  out.method(channel, method.publish).u16(0).short(exchange).short(routingKey).u8(mandatory).end()
}

function beginHeader(out: FrameWriter, channel: number, bodyBytes: number): void {
  out.begin(headerFrame, channel).u16(basicClass).u16(0).u64(bodyBytes)
}

const mandatory = 1
const typeInt = 'I'.charCodeAt(0)
const typeBytes = 'x'.charCodeAt(0)
