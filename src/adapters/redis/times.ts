import type { SessionTimes } from '../../core/sources.ts'

/** The fields of a session that are read. All others hold user data (FIELD-NOTES.md 4). */
export const timeFields = ['creationTime', 'lastAccessedTime', 'maxInactiveInterval'] as const

/** Returns the times of one hash; null if it has none of the three fields and so is not a session. */
export function sessionTimes(fields: readonly (Buffer | null)[], ttlMs: number): SessionTimes | null {
  if (fields.every((field) => field === null)) return null
  const [creation, lastAccessed, maxInactive] = fields.map((field) => (field ? decodeNumber(field) : null))
  return {
    creationTime: creation ?? null,
    lastAccessedTime: lastAccessed ?? null,
    maxInactiveSeconds: maxInactive ?? null,
    ttlMs: ttlMs < 0 ? null : ttlMs,
  }
}

const magic = Buffer.from('aced00057372', 'hex')
const longClass = Buffer.from('\u0000\u000ejava.lang.Long', 'latin1')
const integerClass = Buffer.from('\u0000\u0011java.lang.Integer', 'latin1')

/** Decodes a number as Java's or a JSON serializer writes it; null if it is neither. */
export function decodeNumber(bytes: Buffer): number | null {
  if (!bytes.subarray(0, magic.length).equals(magic)) return decodeText(bytes)
  const name = bytes.subarray(magic.length)
  if (name.subarray(0, longClass.length).equals(longClass) && bytes.length === 82)
    return Number(bytes.readBigInt64BE(bytes.length - 8))
  if (name.subarray(0, integerClass.length).equals(integerClass) && bytes.length === 81)
    return bytes.readInt32BE(bytes.length - 4)
  return null
}

function decodeText(bytes: Buffer): number | null {
  if (bytes.length > 64) return null
  const digits = /^(?:\["java\.lang\.(?:Long|Integer)",)?"?(-?\d{1,18})"?\]?$/.exec(
    bytes.toString('latin1').trim(),
  )?.[1]
  return digits === undefined ? null : Number(digits)
}
