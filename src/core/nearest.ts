import { sentence } from './shell-command.ts'
import type { Suggestion } from './shell-command.ts'

/** Returns the known names that a mistyped one may stand for, nearest first, three at most; empty if none is near. */
export function nearestNames(typed: string, known: Iterable<string>): string[] {
  const all = byLikeness(typed, known)
  const [best] = all
  if (!best || best.rank === unlike) return []
  return named(all.filter(({ rank, difference }) => rank === best.rank && difference <= best.difference + asNear))
}

/** Returns `did you mean …?` with the names that are near; undefined if none is. */
export function didYouMean(typed: string, known: Iterable<string>): string | undefined {
  const near = nearestNames(typed, known)
  return near.length > 0 ? `did you mean ${eitherOf(near)}?` : undefined
}

/** Does the same as `didYouMean` for the suggestion of an error: names from outside are quoted. */
export function suggestNearest(typed: string, known: Iterable<string>): Suggestion | undefined {
  const [first, second, third] = nearestNames(typed, known)
  if (first === undefined) return undefined
  if (second === undefined) return sentence`did you mean ${first}?`
  return third === undefined
    ? sentence`did you mean ${first} or ${second}?`
    : sentence`did you mean ${first}, ${second} or ${third}?`
}

/** Does the same as `nearestNames` for a list too long to show whole: if nothing is near, the least unlike. */
export function closestNames(typed: string, known: Iterable<string>): string[] {
  const near = nearestNames(typed, known)
  return near.length > 0 ? near : named(byLikeness(typed, known))
}

/** Does the same as `didYouMean`; if nothing is near, names the least unlike. `known` must not be empty. */
export function closestTo(typed: string, known: Iterable<string>): string {
  const all = [...known]
  const closest = closestNames(typed, all)
  return (
    didYouMean(typed, all) ?? `the closest known ${closest.length === 1 ? 'name is' : 'names are'} ${eitherOf(closest)}`
  )
}

/** Lists the names in backquotes: `a`, `b` or `c`. */
function eitherOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

/** Ranks: mistyped; named by a part of it; neither */
const [mistyped, inPart, unlike] = [0, 1, 2] as const
/** How much more than the nearest the other listed names may differ */
const asNear = 0.3

interface Likeness {
  name: string
  rank: 0 | 1 | 2
  /** 0: the same; 1: no letter in common */
  difference: number
}

function byLikeness(typed: string, known: Iterable<string>): Likeness[] {
  const wanted = typed.toLowerCase()
  return [...new Set(known)]
    .map((name) => ({ name, ...likeness(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.rank - b.rank || a.difference - b.difference)
}

function likeness(wanted: string, name: string): Omit<Likeness, 'name'> {
  const difference = differenceOf(wanted, name)
  if (wanted !== '' && isMistyped(wanted, name)) return { rank: mistyped, difference }
  const words = wordsOf(wanted)
  const parts = wordsOf(name)
  const isFound = (word: string): boolean =>
    word.length >= 3 && (name.includes(word) || parts.some((part) => isMistyped(word, part)))
  // half of the words or more match: `lock-stuck` names `stuck-lock`
  if (words.length === 0 || words.filter(isFound).length * 2 < words.length) return { rank: unlike, difference }
  const least = words.map((word) => Math.min(...parts.map((part) => differenceOf(word, part))))
  return { rank: inPart, difference: least.reduce((sum, it) => sum + it, 0) / words.length }
}

function isMistyped(wanted: string, name: string): boolean {
  return editDistance(wanted, name) <= Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3))
}

function differenceOf(wanted: string, name: string): number {
  return editDistance(wanted, name) / Math.max(wanted.length, name.length, 1)
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
}

function named(all: readonly Likeness[]): string[] {
  return all.slice(0, 3).map(({ name }) => name)
}

/** Counts the insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other. */
export function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    const previous = rows[row - 1] ?? []
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Infinity,
      )
    }
    rows.push(current)
  }
  return rows[from.length]?.[to.length] ?? 0
}
