import type { Span } from './values.ts'
import type { View } from './view.ts'
import { viewOf } from './view.ts'

/** A secret that this program holds, in the forms in which it may come back. */
interface Known {
  /** as it is, and as JSON and addresses write it, once and twice; in lower case, since names of hosts are told so */
  readonly written: readonly string[]
  /** as it reads once its escapes are undone */
  readonly read: string
  /** what is left of it in base64, whatever stands before and after it */
  readonly encoded: readonly string[]
  /** only where it stands by itself, since it is short */
  readonly isAlone: boolean
}

/**
 * The values of all `Secret`s of this process. It is the one state that outlives a call: a text on its way out has to
 * be compared with every secret, whoever read it, and a list that is handed on is one that somebody forgets to hand on.
 */
const all = new Map<string, Known>()

/** so many characters a value needs to be looked for anywhere in a text, and as a word of it */
const [shortest, shortestWord] = [8, 5]

/**
 * Whether a value is looked for in texts: one that is a plain word or a number, as passwords of practice are, stands in
 * any of them.
 */
export function isTelling(value: string): boolean {
  const text = value.trim()
  if (text.length < shortestWord || /^[\d\s.,:+-]*$/.test(text)) return false
  return text.length >= 20 || !/^(?:\p{Lu}?[\p{Ll}\s._/-]*|[\p{Lu}\s._/-]*)$/u.test(text)
}

/** From now on this value appears in no text that leaves. */
export function remember(value: string): void {
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
  all.set(value, {
    written: unique(written.map(lower)),
    read: lower(viewOf(value).text),
    encoded: unique(encodedParts(value)),
    isAlone: value.trim().length < shortest,
  })
}

/** How many values are known: what was found clean before another came has to be looked at again. */
export function knownCount(): number {
  return all.size
}

/** Where known secrets stand in the original of a view, in any of their forms. */
export function knownIn(original: string, view: View): Span[] {
  if (all.size === 0) return []
  const [raw, read] = [lower(original), lower(view.text)]
  const spans: Span[] = []
  for (const { written, read: plain, encoded, isAlone } of all.values()) {
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
    // base64 tells capitals from small letters
    const inBase64 = encoded.flatMap((form) => placesOf(form, original, (it) => wholeWord(original, it)))
    for (const it of [...places, ...seen, ...inBase64]) spans.push(it)
  }
  return spans
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

/** Lower case of the same length: a few letters of other languages become two. */
function lower(text: string): string {
  const it = text.toLowerCase()
  return it.length === text.length ? it : text
}

function percentEncoded(text: string): string {
  // half of a character has no such form
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/**
 * Three bytes are four letters, so that a text within another is written in three ways; its ends depend on what is
 * beside it.
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

/** The whole word, since its ends hold a part of the secret too. */
function wholeWord(text: string, { start, end }: Span): Span {
  while (start > 0 && ofBase64.test(text[start - 1]!)) start -= 1
  while (end < text.length && ofBase64.test(text[end]!)) end += 1
  return { start, end }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '')
}
