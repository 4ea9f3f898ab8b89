import type { CheckReport, DoctorReport } from './check.ts'

/** What is loaded for a language besides English: dist/texts.LANGUAGE.json, made by bin/translations.js. */
export interface Texts {
  language: string
  /** Plural categories of whole numbers, in the order of the forms after `{1:` */
  forms: readonly string[]
  /** By the entry's id; what is absent stays English */
  entries: Readonly<Record<string, TranslatedEntry>>
  /** English texts, in which `{1}` stands for a value, and their translations */
  help: Pairs
  words: Pairs
  sentences: Pairs
  phrases: Pairs
}

/** An entry of `explain` in another language. */
export interface TranslatedEntry {
  title?: string
  meaning?: string
  cause?: string
  causes?: readonly string[]
  /** Texts alone, as many as the English entry has */
  remedies?: readonly string[]
}

type Pairs = Readonly<Record<string, string>>

const isObject = (it: unknown): it is Record<string, unknown> =>
  typeof it === 'object' && it !== null && !Array.isArray(it)
const isTexts = (it: unknown): boolean => Array.isArray(it) && it.every((text) => typeof text === 'string')
const arePairs = (it: unknown): boolean => isObject(it) && Object.values(it).every((text) => typeof text === 'string')

/** Returns what was read as the texts of a language; null if it has another shape. */
export function textsIn(read: unknown): Texts | null {
  if (!isObject(read)) return null
  const { language, forms, entries, help, words, sentences, phrases } = read
  const isEntry = (it: unknown): boolean =>
    isObject(it) && Object.values(it).every((own) => typeof own === 'string' || isTexts(own))
  const isWhole =
    typeof language === 'string' &&
    isTexts(forms) &&
    isObject(entries) &&
    Object.values(entries).every(isEntry) &&
    [help, words, sentences, phrases].every(arePairs)
  return isWhole ? (read as unknown as Texts) : null
}

/** Returns an English text in another language; the text itself if there is no translation. */
export type Say = (english: string) => string

/** Leaves texts in English. */
export const inEnglish: Say = (english) => english

/** A language to speak to the operator. */
export interface Translation {
  texts: Texts
  help: Say
  words: Say
  /** Translates a text of several sentences, all of them or none */
  sentences: Say
}

/** Characters of a text that is looked up: several times those of the longest */
const mostCharacters = 4000

/** Makes what translates. Values within a text are carried over as they are, whatever they contain. */
export function translation(texts: Texts): Translation {
  const category = new Intl.PluralRules(texts.language)
  const formOf = (value: string, forms: readonly string[]): string => {
    const number = Number(value.replaceAll(',', ''))
    const at = Number.isNaN(number) ? -1 : texts.forms.indexOf(category.select(number))
    return forms[at] ?? forms.at(-1)!
  }
  const exact: Say = (value) => (Object.hasOwn(texts.phrases, value) ? texts.phrases[value]! : value)
  const phrase = finder(texts.phrases, { formOf, inner: exact })
  const inner: Say = (value) => {
    const items = value.split(', ').map(phrase)
    return items.includes(null) ? (phrase(value) ?? value) : items.join(', ')
  }
  const made = { formOf, inner }
  const sentence = finder(texts.sentences, made)
  const whole =
    (find: Find): Say =>
    (english) =>
      (english.length > mostCharacters ? null : find(english)) ?? english
  return {
    texts,
    help: whole(finder(texts.help, made)),
    words: whole(finder(texts.words, made)),
    sentences: whole((english) => inPieces(english, sentence)),
  }
}

/** Returns a report with its titles and remedies in another language. What was found, and every command, stays. */
export function reportIn(report: DoctorReport, translation: Translation): DoctorReport {
  return { ...report, checks: report.checks.map((check) => checkIn(check, translation)) }
}

/** Does the same for one check. */
export function checkIn(check: CheckReport, { texts, sentences }: Translation): CheckReport {
  const { title = check.title } = Object.hasOwn(texts.entries, check.id) ? texts.entries[check.id]! : {}
  const { remedy } = check
  if (remedy === undefined) return { ...check, title }
  const risk = remedy.risk === undefined ? {} : { risk: sentences(remedy.risk) }
  return { ...check, title, remedy: { ...remedy, text: sentences(remedy.text), ...risk } }
}

type Find = (english: string) => string | null

/** How values are set into a translation. */
interface Setting {
  formOf: (value: string, forms: readonly string[]) => string
  inner: Say
}

/** Sentences that one entry may span, since values contain full stops too */
const mostJoined = 4
/** Sentences of a whole text */
const mostPieces = 30

/** Reads a text as sentences that are each known. Prefers short ones, so that none is taken for another's value. */
function inPieces(english: string, find: Find): string | null {
  const pieces = english.split(/(?<=[.!?]) /)
  if (pieces.length > mostPieces) return null
  /** The translation from each piece on; null: it is not known */
  const rest: (string | null)[] = []
  rest[pieces.length] = ''
  for (let from = pieces.length - 1; from >= 0; from -= 1) {
    rest[from] = null
    for (let to = from + 1; to <= Math.min(pieces.length, from + mostJoined); to += 1) {
      const after = rest[to] ?? null
      const own = after === null ? null : find(pieces.slice(from, to).join(' '))
      if (own === null) continue
      rest[from] = after === '' ? own : `${own} ${after}`
      break
    }
  }
  return rest[0] ?? null
}

interface Template {
  /** What stands before, between and behind its values */
  fixed: readonly string[]
  to: string
}

const slot = /\{(?:(=?)(\d)|(\d):([^{}]*))\}/g

function finder(pairs: Pairs, setting: Setting): Find {
  const exact = new Map<string, string>()
  const templates: Template[] = []
  for (const [from, to] of Object.entries(pairs)) {
    const fixed = from.split(/\{\d\}/)
    if (fixed.length === 1) exact.set(from, to)
    else templates.push({ fixed, to })
  }
  // the one that says the most itself fits best
  const weight = ({ fixed }: Template): number => fixed.join('').length
  templates.sort((one, other) => weight(other) - weight(one))
  return (english) => {
    const found = exact.get(english)
    if (found !== undefined) return found
    for (const { fixed, to } of templates) {
      const values = valuesIn(english, fixed)
      if (values) return filled(to, values, setting)
    }
    return null
  }
}

function filled(to: string, values: readonly string[], { formOf, inner }: Setting): string {
  return to.replace(slot, (_, nested: string | undefined, plain?: string, counted?: string, forms?: string) => {
    const value = values[Number(plain ?? counted) - 1] ?? ''
    if (forms !== undefined) return formOf(value, forms.split('|'))
    return nested === '=' ? inner(value) : value
  })
}

/**
 * Returns what stands between the fixed parts, in time linear to the text. Null if they do not stand there, or in more
 * than one way: then a value could be torn apart.
 */
function valuesIn(text: string, fixed: readonly string[]): string[] | null {
  const first = fixed[0]!
  const last = fixed.at(-1)!
  const end = text.length - last.length
  if (first.length >= end || !text.startsWith(first) || !text.endsWith(last)) return null
  const middle = fixed.slice(1, -1)
  const starts: number[] = []
  let from = first.length
  for (const part of middle) {
    const at = text.indexOf(part, from + 1)
    if (at < 0) return null
    starts.push(at)
    from = at + part.length
  }
  if (from >= end) return null
  let before = end
  for (let index = middle.length - 1; index >= 0; index -= 1) {
    const part = middle[index]!
    const at = text.lastIndexOf(part, before - 1 - part.length)
    if (at !== starts[index]) return null
    before = at
  }
  const bounds = [first.length, ...middle.flatMap((part, index) => [starts[index]!, starts[index]! + part.length]), end]
  return Array.from({ length: fixed.length - 1 }, (_, index) => text.slice(bounds[2 * index], bounds[2 * index + 1]))
}
