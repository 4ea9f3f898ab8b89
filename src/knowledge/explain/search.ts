import { closestNames, nearestNames } from '../../core/nearest.ts'
import type { ExplainEntry } from './entry.ts'

interface ScoredEntry {
  entry: ExplainEntry
  /** 1: the very name that was asked for; less: a guess */
  score: number
}

export interface SearchAnswer {
  /** best first; empty where nothing fits */
  found: readonly ScoredEntry[]
  /** where nothing fits: names that may have been meant */
  nearest: readonly string[]
}

/** below this, what is found has too little to do with the question */
const enough = 0.5

/**
 * Finds texts by id, by group (`broker`), by the last part of an id, or by words. `others` are further names, each with the
 * ids that it stands for.
 */
export function searchEntries(
  query: string,
  entries: readonly ExplainEntry[],
  others: ReadonlyMap<string, readonly string[]> = new Map(),
): SearchAnswer {
  const wanted = query
    .trim()
    .toLowerCase()
    .replace(/\/\*?$/, '')
  const exact = entries.filter(({ id }) => id === wanted || others.get(wanted)?.includes(id))
  if (exact.length > 0) return { found: exact.map((entry) => ({ entry, score: 1 })), nearest: [] }
  const found = [byLog(query, entries), byName(wanted, entries), byWords(wanted, entries)].find((some) => some.length > 0)
  return found ? { found, nearest: [] } : { found: [], nearest: nearestTo(wanted, entries, others) }
}

function byLog(query: string, entries: readonly ExplainEntry[]): ScoredEntry[] {
  return entries.filter(({ isToldBy }) => isToldBy?.(query)).map((entry) => ({ entry, score: 0.95 }))
}

function byName(wanted: string, entries: readonly ExplainEntry[]): ScoredEntry[] {
  const group = (id: string): string | undefined => id.split('/')[0]
  const name = (id: string): string | undefined => id.split('/')[1]
  const named = entries.filter(({ id }) => wanted !== '' && (group(id) === wanted || name(id) === wanted))
  return named.map((entry) => ({ entry, score: 0.9 }))
}

function byWords(wanted: string, entries: readonly ExplainEntry[]): ScoredEntry[] {
  // with a slash it is meant to be an id, and a wrong one must not pass for found
  if (/^[\w-]+\/[\w-]*$/.test(wanted)) return []
  return scored(wanted, entries).filter(({ score }) => score >= enough)
}

/** The five that have most to do with the words. */
function scored(wanted: string, entries: readonly ExplainEntry[]): ScoredEntry[] {
  const words = wordsOf(wanted).filter((word) => word.length > 2)
  if (words.length === 0) return []
  return entries
    .map((entry) => ({ entry, score: scoreOf(words, entry) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 5)
}

function scoreOf(words: readonly string[], entry: ExplainEntry): number {
  const heading = new Set(wordsOf(`${entry.id} ${entry.title}`))
  const text = new Set(wordsOf([entry.meaning, ...entry.causes, ...entry.remedies.map((remedy) => remedy.text)].join(' ')))
  const points = words.map((word): number => (heading.has(word) ? 0.8 : text.has(word) ? 0.6 : 0))
  return Math.round((points.reduce((sum, point) => sum + point, 0) / words.length) * 100) / 100
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean)
}

/** What is written alike, else what has something to do with the words, else what is least unlike. */
function nearestTo(
  wanted: string,
  entries: readonly ExplainEntry[],
  others: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  if (wanted === '') return []
  const ids = entries.map(({ id }) => id)
  const groups = ids.map((id) => id.split('/')[0] ?? id)
  const known = [...groups, ...ids, ...others.keys()]
  const alike = nearestNames(wanted, known)
  if (alike.length > 0) return alike
  const related = scored(wanted, entries).filter(({ score }) => score > 0)
  return related.length > 0 ? related.slice(0, 3).map(({ entry }) => entry.id) : closestNames(wanted, known)
}
