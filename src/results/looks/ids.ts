import type { Look, Looked } from './look.ts'

/** A UUID of RFC 9562, all versions. */
const uuid = /(?<![\da-z-])[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}(?![\da-z-])/i
const hex = /(?<![\da-z])(?:[\da-f]{24,}|[\dA-F]{24,})(?![\da-z])/i
/** A ULID (github.com/ulid/spec): its first ten characters are a time in milliseconds. */
const ulid = /(?<![\da-z])(?:[0-7][\dA-HJKMNP-TV-Z]{25}|[0-7][\da-hjkmnp-tv-z]{25})(?![\da-z])/i
const base64 = /^[\w+/-]{20,}={0,2}$/
const jwt = /^(?:Bearer )?eyJ[\w-]{8,}\.(eyJ[\w-]{8,})\.[\w-]*$/

/** Names of values that are computed from content, and so stay the same. */
const ofContent = /hash|checksum|digest|md5|sha-?\d|fingerprint/i

/** Detects ids that are made at random; null if there is none. */
export function idLook({ text, name, at }: Looked): Look | null {
  if (text.length < 20) return null
  const ofUuid = text.length >= 36 && text.includes('-') ? uuid.exec(text) : null
  if (ofUuid && variety(ofUuid[0].toLowerCase()) > 6) return { what: 'a UUID' }
  const token = jwt.exec(text)
  if (token) return isOfRun(token[1]!, at) ? { what: 'a token that was issued for the run', isSecret: true } : null
  const ofHex = hex.exec(text)
  if (ofHex && !ofContent.test(name) && !/^(?:sha|md)\d/i.test(text) && isRandomHex(ofHex[0].toLowerCase()))
    return { what: 'a long random id' }
  const ofUlid = ulid.exec(text)
  if (ofUlid && isTimed(ofUlid[0].toUpperCase())) return { what: 'a ULID' }
  return base64.test(text) && !ofContent.test(name) && isRandom(text) ? { what: 'a long random id' } : null
}

/** Returns the number of different characters. */
function variety(text: string): number {
  return new Set(text).size
}

/** True if letters and digits are in no order; false for `deadbeef` six times. */
function isRandomHex(digits: string): boolean {
  return (
    /\d/.test(digits) &&
    /[a-f]/.test(digits) &&
    variety(digits) >= 8 &&
    !/012345|123456|abcdef|(.)\1{5}|(.{4,8})\2/.test(digits)
  )
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Times between which programs can have made a ULID. */
const [since, until] = [Date.UTC(2010), Date.UTC(2100)]

function isTimed(id: string): boolean {
  let time = 0
  for (let at = 0; at < 10; at += 1) time = time * 32 + crockford.indexOf(id[at]!)
  return time >= since && time < until && variety(id) >= 10
}

/** True if digits and cases change much more often than in words, and the value does not decode to text. */
function isRandom(text: string): boolean {
  const plain = text.replace(/[^A-Za-z\d]/g, '')
  if (text.replace(/(?<!=)=+$/, '').length - plain.length > text.length / 10) return false
  const digitGroups = plain.match(/\d+/g)?.length ?? 0
  const upper = plain.match(/[A-Z]/g)?.length ?? 0
  const lower = plain.match(/[a-z]/g)?.length ?? 0
  if (digitGroups < 3 || upper < 3 || lower < 3) return false
  let changes = 0
  for (let at = 1; at < plain.length; at += 1)
    if (kindOf(plain.charCodeAt(at)) !== kindOf(plain.charCodeAt(at - 1))) changes += 1
  return changes >= plain.length * 0.45 && !isOfWords(plain) && !isText(text)
}

/** True if the value consists of readable words, which have vowels: `Version2OfTheTest3`. */
function isOfWords(text: string): boolean {
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]{2,}/g)?.filter(({ length }) => length > 1) ?? []
  return words.filter((word) => /[aeiouy]/i.test(word)).length >= words.length * 0.8
}

function kindOf(code: number): 'digit' | 'upper' | 'lower' {
  return code <= 57 ? 'digit' : code <= 90 ? 'upper' : 'lower'
}

/** True if it is text in base64, which the test's author has encoded. */
function isText(encoded: string): boolean {
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(encoded, 'base64').toString('latin1'))
}

const dayMs = 86_400_000

/** True if the token was issued or expires within a day of the run (RFC 7519, both in seconds since 1970). */
function isOfRun(payload: string, at: number | null): boolean {
  if (at === null) return false
  try {
    const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat?: unknown; exp?: unknown }
    return [iat, exp].some((seconds) => typeof seconds === 'number' && Math.abs(seconds * 1000 - at) < dayMs)
  } catch {
    return false
  }
}
