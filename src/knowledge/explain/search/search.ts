import { closestNames, nearestNames } from '../../../core/nearest.ts'
import { signatures } from '../../signatures.ts'
import type { ExplainEntry, ExplainText } from '../entry.ts'
import { resolved } from '../entry.ts'
import { readers } from '../readers.ts'
import { wordSearch } from './by-words.ts'
import type { WordSearch } from './by-words.ts'
import { pasted, plain, unbroken } from './pasted.ts'
import type { Pasted } from './pasted.ts'
import { stemsOf } from './stem.ts'

interface ScoredEntry {
  entry: ExplainEntry
  /** 1 for the very name that was asked for; less for what a message shows, then for a guess */
  score: number
}

export interface SearchAnswer {
  /** Best first; empty if nothing fits */
  found: readonly ScoredEntry[]
  /** Names that may have been meant, if nothing fits */
  nearest: readonly string[]
}

/**
 * Minimum coverage of a question, of a log, which is full of words that mean nothing, and of a name, which may be
 * mistyped
 */
const [enough, enoughInLog, enoughAsName] = [0.55, 0.7, 0.8] as const
/** Minimum coverage if the question contains a phrase of the entry as a whole */
const enoughWithPhrase = 0.4
/** Minimum score of a guess, as a part of the best one's */
const besideBest = 0.75
/** Maximum score of a guess, which is never as good as a known message */
const mostOfGuess = 0.84
/** Maximum characters of a name */
const longestName = 80

/**
 * Returns a search for texts by id, by group (`broker`), by the last part of an id, by a pasted message of any length,
 * or by words.
 */
export function explainSearch(texts: readonly ExplainText[]): (query: string) => SearchAnswer {
  const entries = new Map(resolved(texts).map((entry) => [entry.id, entry]))
  let words: WordSearch | undefined
  const guesses: WordSearch = (query) =>
    (words ??= wordSearch(texts))(query).map((guess) => ({ ...guess, score: rounded(guess.score * mostOfGuess) }))

  return (query) => {
    const wanted = nameIn(query)
    const named = byName(wanted, texts)
    const message = named.length > 0 ? null : pasted(query)
    const found =
      message === null
        ? named
        : firstOf([
            () => byMessage(message, texts),
            () => byMessage(unbroken(message), texts),
            () => byPiece(message, texts, mostOfGuess),
            () => bySpelling(message, texts, mostOfGuess),
            () => byWords(wanted, message, guesses),
          ])
    if (found.length > 0)
      return { found: found.map(({ text, score }) => ({ entry: entries.get(text.id)!, score })), nearest: [] }
    return { found: [], nearest: message === null ? [] : nearestTo(wanted, message, texts, guesses) }
  }
}

interface Found {
  text: ExplainText
  score: number
}

function firstOf(searches: readonly (() => Found[])[]): Found[] {
  for (const search of searches) {
    const found = search()
    if (found.length > 0) return found
  }
  return []
}

/** Returns the query as a name, also of a group, also in quotes. */
function nameIn(query: string): string {
  return plain(query.slice(0, longestName * 2))
    .trim()
    .toLowerCase()
    .replace(/^["'`]|["'`]$/g, '')
    .replace(/\/\*?$/, '')
}

function byName(wanted: string, texts: readonly ExplainText[]): Found[] {
  const only = (isMeant: (text: ExplainText) => boolean, score: number): Found[] =>
    texts.filter(isMeant).map((text) => ({ text, score }))
  const called = nameOf(wanted)
  const exact = only(
    ({ id, names = [] }) => id === wanted || (called !== '' && names.some((name) => nameOf(name) === called)),
    1,
  )
  if (exact.length > 0 || wanted === '') return exact
  const [first, second] = wanted.split('/')
  const part = only(
    ({ id, kind }) => kind === 'check' && (id.split('/')[0] === wanted || id.split('/')[1] === wanted),
    0.9,
  )
  // a way to make a fault, as the lab calls it
  return part.length > 0 || second === undefined ? part : only(({ id, kind }) => kind === 'fault' && id === first, 0.9)
}

/** Returns a name in a form without case and number. */
function nameOf(words: string): string {
  return stemsOf(words.replaceAll('ё', 'е')).join(' ')
}

function byWords(wanted: string, query: Pasted, guesses: WordSearch): Found[] {
  // a query with a slash is meant to be an id, and a wrong one must not pass for found
  if (/^[\w-]+\/[\w-]*$/.test(wanted)) return []
  const least = query.isLog ? enoughInLog : /^\w+(-\w+)+$/.test(wanted) ? enoughAsName : enough
  const fitting = guesses(query).filter(
    ({ coverage, isApt, isSaid }) =>
      isApt && coverage >= (isSaid && !query.isLog ? Math.min(least, enoughWithPhrase) : least),
  )
  const best = fitting[0]?.score ?? 0
  return fitting.filter(({ score }) => score >= best * besideBest).slice(0, 5)
}

/** Returns names written alike, otherwise names related to the words, otherwise the least unlike. */
function nearestTo(
  wanted: string,
  query: Pasted,
  texts: readonly ExplainText[],
  guesses: WordSearch,
): readonly string[] {
  if (wanted === '') return []
  const ids = texts.map(({ id }) => id)
  const known = [...ids.map((id) => id.split('/')[0] ?? id), ...ids]
  const isName = query.flat.length <= longestName
  const alike = isName ? nearestNames(wanted, known) : []
  if (alike.length > 0) return alike
  const related = guesses(query).slice(0, 3)
  return related.length > 0 ? related.map(({ text }) => text.id) : closestNames(wanted.slice(0, longestName), known)
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100
}

/** Scores: shown by more than one line; shown by the web interface itself; a fault; a check; no problem; a mere line */
const [certain, asShown, told, checked, harmless, line] = [0.97, 0.96, 0.95, 0.93, 0.9, 0.85] as const

/** Returns the entries that a pasted text shows for certain, best first, with the checks that find them. */
function byMessage(query: Pasted, texts: readonly ExplainText[]): { text: ExplainText; score: number }[] {
  const seen = new Set<string>(
    signatures.filter(({ pattern }) => new RegExp(pattern.source, 'i').test(query.flat)).map(({ id }) => id),
  )
  const whole = query.lines.join('\n')
  const isRead = ({ reader }: ExplainText): boolean => reader !== undefined && readers[reader](whole)
  const isTold = ({ signatures: ids = [], messages = [], patterns = [] }: ExplainText): boolean =>
    ids.some((id) => seen.has(id)) ||
    messages.some((message) => query.flat.includes(message)) ||
    patterns.some((pattern) => pattern.test(query.flat))
  const found = texts.filter((text) => isTold(text) || isRead(text))
  const behind = new Set(found.flatMap((text) => ('of' in text ? [text.of] : [])))
  const checks = texts.filter((text) => behind.has(text.id) && !found.includes(text))
  return [
    ...found.map((text) => ({ text, score: isRead(text) ? certain : scoreOf(text) })),
    ...checks.map((text) => ({ text, score: harmless })),
  ].sort((a, b) => b.score - a.score)
}

function scoreOf({ kind, severities }: ExplainText): number {
  if (kind === 'signature') return line
  if (kind === 'check') return checked
  if (kind === 'term') return asShown
  return kind === 'fault' && severities?.length === 0 ? harmless : told
}

/**
 * Minimum characters of a piece, which has at least two words; minimum part of the message if there is other text
 * beside it
 */
const [leastPiece, leastPart] = [12, 0.6] as const
/** Maximum characters; a longer text is more than a message */
const longestMessage = 2000

/** Returns the entries whose message was cut: at the edge of a screen, or while it was copied. */
function byPiece(
  { flat }: Pasted,
  texts: readonly ExplainText[],
  score: number,
): { text: ExplainText; score: number }[] {
  if (flat.length > longestMessage) return []
  const piece = flat.replace(/^[\s.\u2026"'`]+|(?<![\s.\u2026"'`])[\s.\u2026"'`]+$/g, '')
  if (piece.length < leastPiece) return []
  return texts
    .filter((text) => literalsOf(text).some((literal) => isPiece(piece, literal)))
    .map((text) => ({ text, score }))
}

function literalsOf({ kind, signatures: ids = [], messages = [] }: ExplainText): string[] {
  const known = signatures
    .filter(({ id }) => ids.includes(id))
    .map(({ pattern }) => pattern.source.replaceAll('\\', '').toLowerCase())
  return kind === 'signature' ? [] : [...known, ...messages]
}

/** True if all of it is within the message, or one end of it is the opposite end of the message. */
function isPiece(piece: string, message: string): boolean {
  if (message.includes(piece)) return piece.includes(' ')
  for (let length = message.length - 1; length >= Math.max(leastPiece, message.length * leastPart); length -= 1) {
    const [first, last] = [message.slice(0, length), message.slice(-length)]
    if ((piece.endsWith(first) && first.trim().includes(' ')) || (piece.startsWith(last) && last.trim().includes(' ')))
      return true
  }
  return false
}

/** Minimum characters; a shorter message is another one as soon as a letter differs */
const shortestMessage = 15

/** Returns the entries whose message was typed with one letter too many, too few, wrong, or swapped with the next. */
function bySpelling(
  { flat }: Pasted,
  texts: readonly ExplainText[],
  score: number,
): { text: ExplainText; score: number }[] {
  if (flat.length > longestMessage) return []
  return texts
    .filter((text) =>
      literalsOf(text).some((literal) => literal.length >= shortestMessage && isMistyped(flat, literal)),
    )
    .map((text) => ({ text, score }))
}

/**
 * True if the text contains the message except for a letter: one of its halves is unchanged, and the other is beside
 * it.
 */
function isMistyped(text: string, message: string): boolean {
  const middle = Math.floor(message.length / 2)
  const [first, last] = [message.slice(0, middle), message.slice(middle)]
  for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1)) {
    if (isOneOff(text.slice(at + first.length), last)) return true
  }
  const [reversed, start] = [backwards(text), backwards(last)]
  for (let at = reversed.indexOf(start); at !== -1; at = reversed.indexOf(start, at + 1)) {
    if (isOneOff(reversed.slice(at + start.length), backwards(first))) return true
  }
  return false
}

/**
 * True if the text begins with the wanted one except for a letter: behind the first difference, both continue alike.
 */
function isOneOff(text: string, wanted: string): boolean {
  let same = 0
  while (same < wanted.length && text[same] === wanted[same]) same += 1
  const [rest, left] = [text.slice(same), wanted.slice(same)]
  const isDigit = /\d/.test(`${rest[0] ?? ''}${left[0] ?? ''}`)
  if (isDigit) return false
  const isSwapped = left.length > 1 && rest[0] === left[1] && rest[1] === left[0] && rest.startsWith(left.slice(2), 2)
  return isSwapped || rest.startsWith(left.slice(1), 1) || rest.startsWith(left.slice(1)) || rest.startsWith(left, 1)
}

function backwards(text: string): string {
  return [...text].reverse().join('')
}
