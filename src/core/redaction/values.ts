import type { NameKind } from './table.ts'
import { isEmptyWord, isMaskAt, isPlaceholder, isProse, isVariableAt, looksSecret, mask } from './table.ts'
import type { View } from './view.ts'

/** `Chrome120`, `loginPage`, `screenshot20261122103001`: words, followed by a number or a time */
const words = /^\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*(?:\d{1,4}|20\d{6}(?:\d{4}|\d{6})?|1[5-9]\d{8}(?:\d{3})?)?$/u
const capitals = /^\p{Lu}+\d{0,4}$/u
const stamp = /^\d{8}T\d{4,9}Z?$/i
/** Hashes as short as those at the end of names of pods and images */
const hash = /^(?:[a-z\d]{1,12}|[A-Z\d]{1,12})$/
/** Names of devices, and parts of keys that are short by chance */
const anyPart = /^\w{1,11}$/
const mostOfAny = 12

/**
 * Returns true if a name is made of words, numbers and short hashes, as those of runs, images and files are. Keys have
 * long parts that are neither.
 */
export function isWordy(name: string): boolean {
  let mixed = 0
  for (const part of name.split(/[-_:.]/)) {
    if (/^\d*$/.test(part) || words.test(part) || capitals.test(part) || stamp.test(part) || hash.test(part)) continue
    if (!anyPart.test(part)) return false
    mixed += part.length
  }
  return mixed <= mostOfAny
}

/** Words before a commit or a digest in a path */
const beforeHash = /^(?:commits?|trees?|blobs?|blame|raw|revisions?|manifests|digests?|sha\d{0,3})$/i

/**
 * Returns true if a part of an address is most likely a key, as in webhooks: long, of letters and digits, and no name,
 * UUID or digest.
 */
export function isKey(segment: string, before: string): boolean {
  if (segment.length < 20 || !/^[\w:-]+$/.test(segment) || !/\d/.test(segment) || !/[a-z]/i.test(segment)) return false
  if (/^sha\d{1,3}:[\da-f]{32,128}$/i.test(segment) || (beforeHash.test(before) && /^[\da-f]{20,128}$/i.test(segment)))
    return false
  return !isWordy(segment)
}

/** A stretch of a view. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The text where a value may begin. */
export interface Value extends Span {
  /** Position after its closing quotation mark, if it has one */
  readonly after: number
  readonly isQuoted: boolean
}

const quotes = new Set(['"', "'", '`'])
/** Maximum length, in characters, of a value of several lines; a quotation mark without an end ends with its line */
const longestOfLines = 4000
/** Number of characters examined of a value that counts only if it looks like a secret */
const mostOfWeak = 300

export function isQuote(character: string | undefined): boolean {
  return character !== undefined && quotes.has(character)
}

/** Returns the position after the blanks of this line. */
export function afterBlanks(text: string, at: number): number {
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\u00a0') at += 1
  return at
}

/** Returns the value that begins at `at`, up to its end. */
export function valueAt(view: View, at: number, most = Number.POSITIVE_INFINITY): Value {
  const { text } = view
  if (isQuote(text[at])) return quotedAt(view, at)
  let end = at
  const last = Math.min(text.length, at + most)
  // a percent-encoded sign within an address or a form does not end a value that is not percent-encoded itself
  const open = view.depth(at - 1)
  while (end < last && (!isEndAt(view, end) || (view.depth(end) > open && /[ &,;]/.test(text[end]!)))) end += 1
  return { start: at, end, after: end, isQuoted: false }
}

function quotedAt({ text, depth }: View, at: number): Value {
  const mark = text[at]!
  const open = depth(at)
  let lineEnd = -1
  for (let end = at + 1; end < text.length; end++) {
    const it = text[end]
    // SQL doubles a quotation mark within a text
    if (it === mark && text[end + 1] === mark && end > at + 1 && /[\p{L}\p{N}]/u.test(text[end + 2] ?? '')) {
      end += 1
      continue
    }
    // one that is escaped more often belongs to the value
    if (it === mark && depth(end) <= open) return { start: at + 1, end, after: end + 1, isQuoted: true }
    if (it !== '\n') continue
    if (lineEnd < 0) lineEnd = end
    if (end - at > longestOfLines) return { start: at + 1, end: lineEnd, after: lineEnd, isQuoted: true }
  }
  const end = lineEnd < 0 ? text.length : lineEnd
  return { start: at + 1, end, after: end, isQuoted: true }
}

/** What may follow a mark that ends a value; otherwise the mark belongs to the value, as in many passwords */
const endsAfter = /[\s"'`,;:.)}\]>]|$/y
/** `a=b`, but no padding of base64 */
const nextPair = /[\w.-]{1,60}["'`]?\s{0,5}(?::|=(?![=\s"'`]|$))/y
const tag = /<(?:[/!]|[a-z][\w-]{0,30}[\s/>])/iy

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

function isEndAt({ text }: View, at: number): boolean {
  const it = text[at]!
  if (it === ' ' || it === '\n' || it === '\t' || it === '\r' || it === '\u00a0') return true
  switch (it) {
    case '&':
    case ',':
    case ';':
      return isAt(endsAfter, text, at + 1) || isAt(nextPair, text, at + 1)
    case '"':
    case "'":
    case '`':
    case ')':
    case '}':
    case ']':
    case '>':
      return isAt(endsAfter, text, at + 1)
    case '<':
      return isAt(tag, text, at)
    default:
      return /\s/.test(it)
  }
}

const word = /[\p{L}\p{N}'_-]{1,40}(?![\p{L}\p{N}@#$%^&*+=/\\-])/uy

/** Returns true if a word of prose begins there, which means that no value follows. */
export function isProseAt(text: string, at: number): boolean {
  word.lastIndex = at
  const found = word.exec(text)?.[0]
  return found !== undefined && isProse(found)
}

/** What separates the value from its name. */
export type Separator = '=' | ':' | 'is' | 'flag' | 'blank' | 'tag'

/** `{noop}`, `{SSHA}`, `{cipher}`: the encoding of the value that follows */
const scheme = /\{[\w.@+-]{0,40}\}(?=[^\s"'`,;:)}\]>&])/y
/** An object, which has names of its own, or a placeholder of a template, such as `{password}` */
const objectOrPlace = /\{(?:[\s"'`{[]|$|[\w.@+-]{0,60}(?:[ \t]{0,3}[:=]|\}))/y

function afterScheme(text: string, at: number): number {
  return isAt(scheme, text, at) ? scheme.lastIndex : at
}

/** Returns the part of the value to hide; null: it is no secret. */
export function secretAt(view: View, at: number, kind: NameKind, separator: Separator): Value | null {
  const { text } = view
  if (at >= text.length || isMaskAt(text, at)) return null
  const opening = text[at]!
  // lists of values, as headers are printed
  if (opening === '[') return listAt(view, at)
  const from = afterScheme(text, at)
  if (from === at && opening === '{' && (isAt(objectOrPlace, text, at) || isProseAt(text, at + 1))) return null
  if (isMaskAt(text, from) || isVariableAt(text, from) || (opening === '(' && separator === 'blank')) return null
  if (kind === 'authorization') return authorizationAt(view, at)
  if (kind === 'session' && separator !== '=') return null
  if (kind === 'vague') return vagueAt(view, at)
  if (isQuote(opening)) {
    const quoted = valueAt(view, at)
    const inside = text.slice(quoted.start, Math.min(quoted.end, quoted.start + 300))
    if (quoted.end === quoted.start || isPlaceholder(inside) || inside.startsWith(mask)) return null
    if (separator === 'blank' || separator === 'is')
      return looksSecret(inside) || (/\s/.test(inside) === false && !isProse(inside) && kind === 'strong')
        ? quoted
        : null
    if (isProse(inside) && (separator !== '=' || isEmptyWord(inside))) return null
    return kind === 'weak' && separator === ':' && /^[\d.]+$/.test(inside) ? null : quoted
  }
  const isCertain =
    kind === 'strong' && (separator === '=' || separator === ':' || separator === 'flag' || separator === 'tag')
  if (isProseAt(text, at) && !(separator === '=' && isCertain && !isEmptyWordAt(text, at))) return null
  const valueTo = (most?: number): Value => ({ ...valueAt(view, from, most), start: at })
  const value = valueTo(isCertain ? undefined : mostOfWeak)
  const it = text.slice(value.start, Math.min(value.end, value.start + mostOfWeak))
  if (value.end === value.start || isPlaceholder(it.replace(/[.,;:)]{1,3}$/, ''))) return null
  if (isCertain) return value
  if (kind === 'weak' && separator === '=') return /^[\d.]+$/.test(it) ? null : valueTo()
  if (!looksSecret(it.replace(/[.,;:]{1,3}$/, ''))) return null
  return value.end - value.start < mostOfWeak ? value : valueTo()
}

/** Returns the value of a vague name, if it is no word, no name, and long enough for a login. */
function vagueAt(view: View, at: number): Value | null {
  const value = valueAt(view, at, mostOfWeak)
  const it = view.text.slice(value.start, Math.min(value.end, value.start + mostOfWeak))
  if (it.length < 10 || !looksSecret(it) || isWordy(it)) return null
  return it.length < mostOfWeak ? value : valueAt(view, at)
}

function isEmptyWordAt(text: string, at: number): boolean {
  word.lastIndex = at
  return isEmptyWord(word.exec(text)?.[0] ?? '')
}

function listAt({ text, depth }: View, at: number): Value | null {
  if (isMaskAt(text, at + 1)) return null
  let end = at + 1
  const isText = isQuote(text[end])
  const open = depth(end)
  for (; end < text.length && text[end] !== '\n'; end++) {
    if (text[end] !== ']') continue
    const isInside = isText && !(isQuote(text[end - 1]) && depth(end - 1) <= open)
    if (!isInside) break
  }
  const inside = text.slice(at + 1, Math.min(end, at + 300))
  if (inside === '' || isPlaceholder(inside) || /^[\d\s,.]*$/.test(inside) || /^["']?\{/.test(inside)) return null
  return { start: at + 1, end, after: end, isQuoted: false }
}

/** A scheme and its blanks; `withParameters` lists those whose parameters follow to the end of the line */
const authSchemes = /([a-z][\w-]{1,30})[ \t]+/iy
const withParameters = /^(?:digest|hawk|oauth|aws4-hmac-sha\d+|ntlm|signature)$/i

/** Returns the value of a header with its scheme, and with all of its parameters if it has any. */
function authorizationAt(view: View, at: number): Value | null {
  const { text } = view
  const isQuoted = isQuote(text[at])
  const start = isQuoted ? at + 1 : at
  if (isQuoted) {
    const quoted = valueAt(view, at)
    const it = text.slice(quoted.start, Math.min(quoted.end, quoted.start + 300))
    return it === '' || isPlaceholder(it.replace(/^[a-z]+ /i, '')) || it.startsWith(mask) || isProse(it) ? null : quoted
  }
  authSchemes.lastIndex = start
  const named = authSchemes.exec(text)
  if (named && withParameters.test(named[1]!)) {
    const line = text.indexOf('\n', start)
    const end = line < 0 ? text.length : line
    return { start, end, after: end, isQuoted: false }
  }
  const isNamed =
    named !== null && /^(?:basic|bearer|token|negotiate|apikey|api-token|gitlab|key|private-token)$/i.test(named[1]!)
  const from = isNamed || (named !== null && !isProse(named[1]!)) ? start + (named?.[0].length ?? 0) : start
  if (isMaskAt(text, from)) return null
  if (isProseAt(text, from) && !isNamed) return null
  const value = valueAt(view, from)
  const it = text.slice(value.start, Math.min(value.end, value.start + mostOfWeak))
  if (value.end === value.start || isPlaceholder(it) || (isNamed && isProseAt(text, from))) return null
  return { ...value, start }
}

const cookieValue = '=(?:"[^"\\n]*"|[^\\s;"\'`]*)'
const cookies = new RegExp(
  `[^\\s=;"'\`]{1,100}${cookieValue}` + `(?:;[ \\t]{0,9}[^\\s=;"'\`,]{1,100}(?:${cookieValue})?(?=[;\\s"'\`)\\]}]|$))*`,
  'y',
)

/** Returns the cookies of a header; null: none stand there. */
export function cookiesAt({ text }: View, at: number): Value | null {
  const start = isQuote(text[at]) || text[at] === '[' ? at + 1 : at
  cookies.lastIndex = start
  const found = cookies.exec(text)
  return found ? { start, end: start + found[0].length, after: start + found[0].length, isQuoted: false } : null
}
