import { isMaskAt, kindOfName, looksSecret } from './table.ts'
import type { NameKind } from './table.ts'
import { afterBlanks, cookiesAt, isProseAt, isQuote, isWordy, secretAt, valueAt } from './values.ts'
import type { Separator, Span, Value } from './values.ts'
import type { View } from './view.ts'

const names = /[\p{L}_][\p{L}\p{N}_.-]*/gu

/** Second words of names that are written as two words */
const secondWord = new RegExp('^(?:key|id|ключ)$', 'i')

/** Finds `NAME=value` and similar forms. */
export function byName(view: View): Span[] {
  const { text } = view
  const found: Span[] = []
  let before = { word: '', end: -1 }
  names.lastIndex = 0
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const word = match[0].replace(/[.-]{1,20}$/, '')
    const [start, end] = [match.index, match.index + word.length]
    // the name in a mask has no value
    if (isMaskAt(text, start - 1)) continue
    // `secret key`, `session id`
    const joined =
      start - before.end <= 3 && text[start - 1] === ' ' && text[before.end] === ' ' ? `${before.word}_${word}` : null
    const isUnexpected = joined !== null && /expected$/i.test(before.word)
    before = { word: word.slice(-40), end }
    const kind =
      kindOfName(word) ??
      (text[start - 1] === '-' ? kindOfProperty(word) : null) ??
      (joined !== null && secondWord.test(word) ? kindOfName(joined) : null)
    if (kind === null || isUnexpected) continue
    const value = valueOf(view, { start, end, word, kind })
    if (value === null) continue
    found.push(value)
    names.lastIndex = Math.max(names.lastIndex, value.after)
  }
  return found
}

/** Judges `-Dlicense.key=X`, which sets a property of Java, by the property alone; also after `-J`. */
function kindOfProperty(word: string): NameKind | null {
  const [, property] = /^(?:[jJ]-)?[dD]([\p{L}_].*)$/su.exec(word) ?? []
  return property === undefined ? null : kindOfName(property)
}

interface Name extends Span {
  readonly word: string
  readonly kind: NameKind
}

const verb = /(?:is|was|are)[ \t]{1,9}(?:now[ \t]{1,9}|set to[ \t]{1,9})?/iy
const arrow = /(?:[-=]{1,2}>|[\u2192\u21d2\u27f6\u279c])[ \t]{0,9}/y
/** `Settings -> Token -> New`: a path through pages, or to a property */
const onTheWay = /(?:>|[\u2192\u21d2])[ \t]{0,3}["'`]?$/
/** `secret: namespace/name`: a Kubernetes Secret */
const reference = /["'`]?([a-z\d][a-z\d.-]{0,62}\/[a-z\d][a-z\d.-]{0,252})(?=[\s"'`,;)}\]]|$)/y
/** The path of a key file, in a setting that could hold the key as well */
const keyFile = /["'`]?\.{0,2}\/[\w./-]{1,200}\.(?:pem|key|p12|pfx|jks|der|pub)(?=[\s"'`,;)}\]]|$)/y
const index = /\[[\w-]{0,20}\]/y
const ofPassword = new RegExp('(?:pass\\w{0,8}|pwd|парол\\p{L}{0,3})$', 'iu')
/** `password for user anna: …` */
const aside = /[ \t]{1,3}(?:[\p{L}\d_.@'-]{1,30}[ \t]{1,3}){0,3}[\p{L}\d_.@'-]{1,40}[ \t]{0,3}[:=][ \t]{1,9}/uy

/** Returns the value after a name, if it is secret; else null. */
function valueOf(view: View, { start, end, word, kind }: Name): Value | null {
  const { text } = view
  if (text[start - 1] === '<' && text[end] === '>') return secretAt(view, end + 1, kind, 'tag')
  let at = end
  index.lastIndex = at
  if (index.test(text)) at = index.lastIndex
  if (isQuote(text[at])) at += 1
  // `Key (token)=(…) already exists.`
  if (text[at] === ']' || (text[at] === ')' && text[at + 1] === '=')) at += 1
  const blanks = afterBlanks(text, at)
  arrow.lastIndex = blanks
  if (arrow.test(text)) {
    const isOnTheWay = onTheWay.test(text.slice(Math.max(0, start - 5), start))
    return secretAt(
      view,
      arrow.lastIndex,
      kind === 'cookie' ? 'strong' : kind,
      isOnTheWay ? 'is' : /[=\u21d2]/.test(text[blanks]!) ? '=' : ':',
    )
  }
  const sign = text[blanks]
  if (sign === ',')
    return isMaskAt(text, start - 1) ? null : besideName(view, { start, kind }, afterBlanks(text, blanks + 1))
  if (sign === '=' || sign === ':' || sign === '：' || sign === '＝') {
    const next = text[blanks + 1]
    // `Token::parse`
    if (sign === ':' && next === ':') return null
    const from = afterBlanks(text, blanks + (next === '=' ? 2 : 1))
    if (sign === ':' && from === blanks + 1 && isPlace(text, from, start)) return null
    if (/^(?:OLD)?PWD$/.test(word) && /[/\\]/.test(text[from] ?? '')) return null
    if (text[from] === '\n') return below(view, from, kind)
    if (/[|>]/.test(text[from] ?? '') && /^[|>][+-]?[ \t]{0,9}\n/.test(text.slice(from, from + 12)))
      return below(view, text.indexOf('\n', from), kind)
    if (/^secret$/i.test(word) && isReference(text, from)) return null
    if (/key$/i.test(word) && isAt(keyFile, text, from)) return null
    if (kind === 'cookie') {
      const cookies = cookiesAt(view, from)
      if (cookies) return isMaskAt(text, cookies.start) ? null : cookies
    }
    const separator: Separator = sign === ':' || sign === '：' ? ':' : '='
    return secretAt(view, from, kind === 'cookie' ? 'strong' : kind, separator)
  }
  if (blanks === at) return null
  const isFlag = /(?:^|[\s"'[,])--?$/.test(text.slice(Math.max(0, start - 3), start))
  if (isFlag && (kind === 'strong' || (kind === 'weak' && word.length > 3)))
    return text[blanks] === '-' ? null : secretAt(view, blanks, 'strong', 'flag')
  if (text[blanks] === '-') return null
  // what follows is the name of a Kubernetes Secret
  if (/secrets?$/i.test(word) || kind === 'cookie' || kind === 'authorization') return null
  if (kind === 'weak' && word !== 'AUTH' && word !== 'pass') return null
  verb.lastIndex = blanks
  if (verb.test(text)) return secretAt(view, verb.lastIndex, kind, 'is')
  const direct = secretAt(view, blanks, kind, 'blank')
  if (direct !== null || kind !== 'strong') return direct
  aside.lastIndex = end
  if (!ofPassword.test(word) || !aside.test(text)) return null
  const from = aside.lastIndex
  return looksSecret(text.slice(from, valueAt(view, from, 300).end)) ? secretAt(view, from, kind, 'is') : null
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

function isReference(text: string, at: number): boolean {
  reference.lastIndex = at
  const found = reference.exec(text)?.[1]
  return found !== undefined && found.split('/').every(isWordy)
}

/** Finds `["password","…"]`, `("password", "…")`, `(password, …)`, `"--password","…"`; lists may hold names alone. */
function besideName(view: View, { start, kind }: Pick<Name, 'start' | 'kind'>, at: number): Value | null {
  const { text } = view
  const before = text.slice(Math.max(0, start - 3), start)
  if (text[at] === '\n' || text[at] === '{') return null
  if (/["'`]--?$/.test(before))
    return isQuote(text[at]) && text[at + 1] !== '-' ? secretAt(view, at, 'strong', 'flag') : null
  if (!/[([]["'`]?$/.test(before)) return null
  const value = valueAt(view, at, 300)
  if (isQuote(text[at]) && /[)\]]/.test(text[value.after] ?? ''))
    return secretAt(view, at, kind, kind === 'strong' ? 'is' : '=')
  const it = text.slice(value.start, Math.min(value.end, value.start + 300))
  return looksSecret(it) && !/^(?![a-f]{8,}$)[\p{L}_.]+$/iu.test(it) ? secretAt(view, at, 'strong', ':') : null
}

/** Returns true for `registry/token:4.25` and `token:8080`: the tag of an image, a port, or a line of a file. */
function isPlace(text: string, at: number, nameStart: number): boolean {
  const version = /^v?\d+(?:\.\d+){1,3}(?:[-+][\w.]{1,40})?(?![\w.])/i
  const number = /^\d{1,5}(?![\w.])/
  const after = text.slice(at, at + 80)
  return /[/@]/.test(text[nameStart - 1] ?? '') ? version.test(after) || number.test(after) : false
}

/** Returns a value on the lines below its name, as YAML writes long ones: those lines that are indented further. */
function below({ text }: View, lineEnd: number, kind: NameKind): Value | null {
  if (kind !== 'strong') return null
  const lineStart = text.lastIndexOf('\n', lineEnd - 1) + 1
  const indent = /^[ \t-]*/.exec(text.slice(lineStart, Math.min(lineEnd, lineStart + 200)))![0].length
  const first = afterBlanks(text, lineEnd + 1)
  let end = lineEnd
  for (let at = lineEnd + 1; at < text.length; ) {
    const from = afterBlanks(text, at)
    const stop = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at)
    if (from - at <= indent || from >= stop) break
    // another name, not the value of this one
    if (
      at === lineEnd + 1 &&
      /^["']?[\w.-]{1,60}["']?(?:\s{0,3}:(?:\s|$)|\s{1,3}=\s)/.test(text.slice(from, Math.min(stop, from + 80)))
    )
      return null
    if (
      at === lineEnd + 1 &&
      (isProseAt(text, from) || isMaskAt(text, from) || /^[[{]/.test(text.slice(from, from + 1)))
    )
      return null
    end = stop
    at = stop + 1
  }
  return end <= lineEnd ? null : { start: first, end, after: end, isQuoted: false }
}
