import { closestNames, nearestNames } from '../../../core/nearest.ts'
import type { ExplainEntry, ExplainText } from '../entry.ts'
import { resolved } from '../resolve.ts'
import { byMessage } from './by-message.ts'
import { byPiece } from './by-piece.ts'
import { bySpelling } from './by-spelling.ts'
import { wordSearch } from './by-words.ts'
import type { WordSearch } from './by-words.ts'
import { pasted, plain, unbroken } from './pasted.ts'
import type { Pasted } from './pasted.ts'
import { stemsOf } from './stem.ts'

interface ScoredEntry {
  entry: ExplainEntry
  /** 1: the very name that was asked for; less: what a message tells of, then a guess */
  score: number
}

export interface SearchAnswer {
  /** best first; empty where nothing fits */
  found: readonly ScoredEntry[]
  /** where nothing fits: names that may have been meant */
  nearest: readonly string[]
}

/**
 * below this, what is found has too little to do with the question; a log is full of words that mean nothing; a name
 * may be mistyped
 */
const [enough, enoughInLog, enoughAsName] = [0.55, 0.7, 0.8] as const
/** where a phrase of the entry stands in the question as a whole */
const enoughWithPhrase = 0.4
/** what is worse than this part of the best guess is none */
const besideBest = 0.75
/** a guess is never as good as a message that is known */
const mostOfGuess = 0.84
/** as long as a name can be */
const longestName = 80

/**
 * Finds texts by id, by group (`broker`), by the last part of an id, by a pasted message of any length, or by words.
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

/** The query as a name: of a group too, in quotes too. */
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

/** In any case and number. */
function nameOf(words: string): string {
  return stemsOf(words.replaceAll('ё', 'е')).join(' ')
}

function byWords(wanted: string, query: Pasted, guesses: WordSearch): Found[] {
  // with a slash it is meant to be an id, and a wrong one must not pass for found
  if (/^[\w-]+\/[\w-]*$/.test(wanted)) return []
  const least = query.isLog ? enoughInLog : /^\w+(-\w+)+$/.test(wanted) ? enoughAsName : enough
  const fitting = guesses(query).filter(
    ({ coverage, isApt, isSaid }) =>
      isApt && coverage >= (isSaid && !query.isLog ? Math.min(least, enoughWithPhrase) : least),
  )
  const best = fitting[0]?.score ?? 0
  return fitting.filter(({ score }) => score >= best * besideBest).slice(0, 5)
}

/** What is written alike, else what has something to do with the words, else what is least unlike. */
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
