import type { Span } from './values.ts'
import type { View } from './view.ts'
import { viewOf } from './view.ts'

/** A secret that this program holds, in the forms in which it may come back. */
interface Known {
  /** As it is, and as JSON and addresses write it, once and twice; in lower case, as host names are reported */
  readonly written: readonly string[]
  /** The value with its escapes undone */
  readonly read: string
  /** What is left of it in base64, whatever stands before and after it */
  readonly encoded: readonly string[]
  /** True if it is short, so that it counts only where it stands alone */
  readonly isAlone: boolean
}

/**
 * The values of all `Secret`s of this process, the one state that outlives a call. A text on its way out must be
 * compared with every secret, whichever part read it. A list passed along as a parameter would be forgotten somewhere.
 */
const all = new Map<string, Known>()

/**
 * An index of each form of each secret by the letters in its middle, so that a text is read once, however many are
 * known: those of a whole fleet have thousands of forms.
 */
const index = new Map<number, Set<Known>>()
/** 1 for each number in the index: faster to look up */
const isIndexed = new Uint8Array(0x1_00_00)
/** Secrets with a form that is too short for the index: they are always looked for */
const tooShort = new Set<Known>()
const indexedLetters = 4

/** Minimum length, in characters, of a value to be found anywhere in a text, and as a whole word */
const [shortest, shortestWord] = [8, 5]

/**
 * Returns true if a value is searched for in texts. A plain word or a number, as a practice password may be, stands in
 * any text.
 */
export function isTelling(value: string): boolean {
  const text = value.trim()
  if (text.length < shortestWord || /^[\d\s.,:+-]*$/.test(text)) return false
  return text.length >= 20 || !/^(?:\p{Lu}?[\p{Ll}\s._/-]*|[\p{Lu}\s._/-]*)$/u.test(text)
}

/** The password of an address, `//USER:PASSWORD@` */
const ofAddress = /:\/\/[^\s/:@]{0,100}:([^\s/:@]{1,500})@/g

/** Adds a value that no outgoing text may contain from now on, and the password in it if it is an address; ignores
 * what is not telling. */
export function remember(value: string): void {
  for (const [, password] of value.matchAll(ofAddress))
    for (const form of [password!, decoded(password!)]) remember(form)
  if (!isTelling(value) || all.has(value)) return
  const json = JSON.stringify(value).slice(1, -1)
  const percent = percentEncoded(value)
  const written = [
    value,
    value.trim(),
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percentEncoded(percent),
    percentEncoded(json),
    percent.replaceAll('%20', '+'),
  ]
  const known: Known = {
    written: unique(written.map(lower)),
    read: lower(viewOf(value).text),
    encoded: unique(encodedParts(value)),
    isAlone: value.trim().length < shortest,
  }
  all.set(value, known)
  for (const form of [...known.written, known.read, ...known.encoded.map(lower)]) addToIndex(known, form)
}

function addToIndex(known: Known, form: string): void {
  if (form.length < indexedLetters) {
    tooShort.add(known)
    return
  }
  const letters = lettersAt(form, (form.length - indexedLetters) >> 1)
  isIndexed[letters] = 1
  const there = index.get(letters)
  if (there) there.add(known)
  else index.set(letters, new Set([known]))
}

/** Returns a number for the letters of a text from there on, as long as those of the index; others may share it. */
function lettersAt(text: string, at: number): number {
  return (
    (text.charCodeAt(at) ^
      (text.charCodeAt(at + 1) << 4) ^
      (text.charCodeAt(at + 2) << 8) ^
      (text.charCodeAt(at + 3) << 12)) &
    0xff_ff
  )
}

/** Adds the secrets that may stand in a text, in any form. */
function addPossible(text: string, possible: Set<Known>): void {
  for (let at = 0; at <= text.length - indexedLetters; at++) {
    const letters = lettersAt(text, at)
    if (isIndexed[letters] === 1) for (const known of index.get(letters)!) possible.add(known)
  }
}

/** Returns a password without the escapes of an address. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

/** Returns how many values are known: text found clean before another came must be examined again. */
export function knownCount(): number {
  return all.size
}

/** Finds known secrets in the original of a view, in any of their forms. */
export function knownIn(original: string, view: View): Span[] {
  if (all.size === 0) return []
  const [raw, read] = [lower(original), lower(view.text)]
  const spans: Span[] = []
  for (const { written, read: plain, encoded, isAlone } of possibleIn(raw, read)) {
    const isIt =
      (text: string) =>
      (span: Span): boolean =>
        !isAlone || isWord(text, span)
    const places = written.flatMap((form) => placesOf(form, raw).filter(isIt(raw)))
    const seen =
      view.text === original
        ? []
        : placesOf(plain, read)
            .filter(isIt(read))
            .map(({ start, end }) => ({ start: view.from(start), end: view.to(end - 1) }))
    // base64 distinguishes capitals from small letters
    const inBase64 = encoded.flatMap((form) => placesOf(form, original, (it) => wholeWord(original, it)))
    if (view.text !== original)
      for (const form of encoded.filter((it) => /[+/]/.test(it)))
        for (const it of placesOf(form, view.text, (place) => wholeWord(view.text, place)))
          inBase64.push({ start: view.from(it.start), end: view.to(it.end - 1) })
    for (const it of [...places, ...seen, ...inBase64]) spans.push(it)
  }
  return spans
}

/** Returns the secrets that these texts, in lower case, may hold: at least all that they do hold. */
function possibleIn(...texts: readonly string[]): Iterable<Known> {
  // `lower` leaves such a text as it is, so forms that are indexed in lower case would not be found in it
  if (texts.some((text) => text !== text.toLowerCase())) return all.values()
  const possible = new Set(tooShort)
  for (const text of new Set(texts)) addPossible(text, possible)
  return possible
}

function placesOf(form: string, text: string, whole: (it: Span) => Span = (it) => it): Span[] {
  const found: Span[] = []
  for (let at = text.indexOf(form); at >= 0 && form !== ''; at = text.indexOf(form, found.at(-1)!.end))
    found.push(whole({ start: at, end: at + form.length }))
  return found
}

const ofWord = /[\p{L}\p{N}_]/u

function isWord(text: string, { start, end }: Span): boolean {
  return !ofWord.test(text[start - 1] ?? ' ') && !ofWord.test(text[end] ?? ' ')
}

/** Returns text in lower case; unchanged if that alters its length, since a few foreign letters become two. */
function lower(text: string): string {
  const it = text.toLowerCase()
  return it.length === text.length ? it : text
}

function percentEncoded(text: string): string {
  // a lone surrogate has no such form
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/**
 * Returns the base64 forms of a value within another text. Three bytes are four letters, so there are three forms; the
 * ends depend on the neighbours.
 */
function encodedParts(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor(((before + bytes.length) * 8) / 6)
    const core = encoded.slice(from, to)
    return core.length < shortest ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

const ofBase64 = /[\w+/=-]/
/** One escaped character before a place, and at one; `own`: of those that base64 uses */
const escaped = { before: /%(?:25)*[\da-f]{2}$/i, own: /^%(?:25)*(?:2b|2f|3d)/i }
const longestEscape = 9

/** Extends a span to the whole word, since its ends hold a part of the secret too. Takes no part of an escape. */
function wholeWord(text: string, { start, end }: Span): Span {
  for (;;) {
    const escape = escaped.before.exec(text.slice(Math.max(0, start - longestEscape), start))?.[0]
    if (escape === undefined ? !(start > 0 && ofBase64.test(text[start - 1]!)) : !escaped.own.test(escape)) break
    start -= escape?.length ?? 1
  }
  for (;;) {
    const escape = escaped.own.exec(text.slice(end, end + longestEscape))?.[0]
    if (escape === undefined && !(end < text.length && ofBase64.test(text[end]!))) break
    end += escape?.length ?? 1
  }
  return { start, end }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '')
}
