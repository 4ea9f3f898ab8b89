import type { FrameWriter } from './frames.ts'

/**
 * A message's properties as they are in its header frame: two bytes of flags, then the values. They are carried as
 * bytes; only what must differ is changed.
 */
export interface Properties {
  bytes: Buffer
  start: number
  end: number
}

/** Bits of the flags, in the order of the values. */
const contentType = 0x8000
const contentEncoding = 0x4000
const headers = 0x2000
const deliveryMode = 0x1000
const priority = 0x0800
const correlationId = 0x0400
const replyTo = 0x0200
const expiration = 0x0100
const messageId = 0x0080
const timestamp = 0x0040
const type = 0x0020
const userId = 0x0010

const persistent = 2

/** Writes properties with only a table of headers and persistent delivery. */
export function writeHeaders(out: FrameWriter, table: (out: FrameWriter) => void): void {
  out.u16(headers | deliveryMode)
  table(out)
  out.u8(persistent)
}

/** Finds the table of headers, including its length; null if there is none. */
export function headersOf({ bytes, start }: Properties): { start: number; end: number } | null {
  const flags = bytes.readUInt16BE(start)
  if (!(flags & headers)) return null
  let at = start + 2
  if (flags & contentType) at = afterShort(bytes, at)
  if (flags & contentEncoding) at = afterShort(bytes, at)
  return { start: at, end: afterLong(bytes, at) }
}

/** Writes properties with only a user_id. */
export function writeUserId(out: FrameWriter, user: string): void {
  out.u16(userId).short(user)
}

/**
 * Writes properties as they are, but persistent, and without a user_id other than `user`; null keeps any. Returns true
 * if it left one out.
 */
export function writePersistent(out: FrameWriter, of: Properties, user: string | null): boolean {
  const { bytes, start, end } = of
  const flags = bytes.readUInt16BE(start)
  const mode = afterHeaders(bytes, start, flags)
  const rest = flags & deliveryMode ? mode + 1 : mode
  const drop = flags & userId && user !== null ? userIdAt(bytes, rest, flags) : null
  const isForeign = drop !== null && bytes.toString('utf8', drop + 1, afterShort(bytes, drop)) !== user
  out
    .u16((flags | deliveryMode) & ~(isForeign ? userId : 0))
    .bytes(bytes, start + 2, mode)
    .u8(persistent)
  if (isForeign) out.bytes(bytes, rest, drop).bytes(bytes, afterShort(bytes, drop), end)
  else out.bytes(bytes, rest, end)
  return isForeign
}

/** True if there is a user_id that `writePersistent` leaves out. */
export function isOfAnother({ bytes, start }: Properties, user: string | null): boolean {
  const flags = bytes.readUInt16BE(start)
  if (!(flags & userId) || user === null) return false
  const mode = afterHeaders(bytes, start, flags)
  const at = userIdAt(bytes, flags & deliveryMode ? mode + 1 : mode, flags)
  return bytes.toString('utf8', at + 1, afterShort(bytes, at)) !== user
}

function afterHeaders(bytes: Buffer, start: number, flags: number): number {
  let at = start + 2
  if (flags & contentType) at = afterShort(bytes, at)
  if (flags & contentEncoding) at = afterShort(bytes, at)
  return flags & headers ? afterLong(bytes, at) : at
}

/** Finds the user_id. `at` is after the delivery mode */
function userIdAt(bytes: Buffer, at: number, flags: number): number {
  if (flags & priority) at += 1
  for (const text of [correlationId, replyTo, expiration, messageId]) if (flags & text) at = afterShort(bytes, at)
  if (flags & timestamp) at += 8
  return flags & type ? afterShort(bytes, at) : at
}

function afterShort(bytes: Buffer, at: number): number {
  return at + 1 + (bytes[at] ?? 0)
}

function afterLong(bytes: Buffer, at: number): number {
  return at + 4 + bytes.readUInt32BE(at)
}

/** Bytes of a table's values by their type; -1 if their length is before them, in four bytes. */
const lengths: Readonly<Record<string, number>> = {
  t: 1,
  b: 1,
  B: 1,
  s: 2,
  u: 2,
  U: 2,
  I: 4,
  i: 4,
  f: 4,
  D: 5,
  l: 8,
  L: 8,
  d: 8,
  T: 8,
  V: 0,
  S: -1,
  x: -1,
  A: -1,
  F: -1,
} // prettier-ignore

/**
 * Finds where the value of a header begins, at its type; null if the header is missing. `table` includes its length.
 */
export function findHeader(bytes: Buffer, table: { start: number; end: number }, name: string): number | null {
  let at = table.start + 4
  while (at < table.end) {
    const value = afterShort(bytes, at)
    if (bytes.toString('utf8', at + 1, value) === name) return value
    const length = lengths[String.fromCharCode(bytes[value] ?? 0)]
    if (length === undefined) return null
    at = length === -1 ? afterLong(bytes, value + 1) : value + 1 + length
  }
  return null
}
