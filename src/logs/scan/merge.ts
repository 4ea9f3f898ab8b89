import { signatures } from '../../knowledge/signatures.ts'
import { causeCounter } from './cause-counter.ts'
import { backwardMs } from './tally.ts'
import type { Tally } from './tally.ts'

/** What streams held together that have nothing to do with each other: containers, files. `firstLine` counts through all of them. */
export function mergeTallies(tallies: readonly Tally[]): Tally {
  return merged(tallies, 0)
}

/** What a stream held whose parts follow each other, each from the beginning of a record on. */
export function joinTallies(parts: readonly Tally[]): Tally {
  const found = parts.filter(({ backward }) => backward.first !== null)
  const steps = found.filter(({ backward }, index) => backward.first!.getTime() < (found[index - 1]?.backward.last?.getTime() ?? -Infinity) - backwardMs)
  return merged(parts, steps.length)
}

/** Joins parts as they come, in any order, so that few are kept at a time. */
export interface Joiner {
  add(part: { index: number; isWhole: boolean; tally: Tally }): void
  /** of the parts from the first one on, up to one that was given up or is missing; `parts`: how many these are */
  joined(): { tally: Tally; parts: number }
}

export function joiner(): Joiner {
  const early = new Map<number, Parameters<Joiner['add']>[0]>()
  let [parts, isOver] = [0, false]
  let tally = joinTallies([])
  return {
    add(part) {
      early.set(part.index, part)
      for (let next = early.get(parts); next && !isOver; next = early.get(parts)) {
        early.delete(parts)
        tally = parts === 0 ? next.tally : joinTallies([tally, next.tally])
        isOver = !next.isWhole
        parts += 1
      }
    },
    joined: () => ({ tally, parts }),
  }
}

function merged(tallies: readonly Tally[], stepsBetween: number): Tally {
  const counters = new Map(signatures.map(({ id }) => [id, causeCounter(id)]))
  let [bytes, lines] = [0, 0]
  let wideAt: number | null = null
  for (const tally of tallies) {
    if (tally.wideAt !== null) wideAt ??= bytes + tally.wideAt
    bytes += tally.bytes
    for (const cause of tally.causes) counters.get(cause.id)!.join(cause, lines)
    lines += tally.lines
  }
  const withLines = tallies.filter((it) => it.lines > 0)
  return {
    bytes,
    lines,
    wideAt,
    from: time(tallies.map(({ from }) => from), Math.min),
    to: time(tallies.map(({ to }) => to), Math.max),
    datesUnknown: withLines.length > 0 && withLines.every(({ datesUnknown }) => datesUnknown),
    backward: {
      steps: sum(tallies.map(({ backward }) => backward.steps)) + stepsBetween,
      first: tallies.find(({ backward }) => backward.first)?.backward.first ?? null,
      last: tallies.findLast(({ backward }) => backward.last)?.backward.last ?? null,
    },
    causes: [...counters.values()].flatMap((it) => it.cause() ?? []),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, it) => all + it, 0)
}

function time(times: readonly (Date | null)[], choose: (...all: number[]) => number): Date | null {
  const known = times.flatMap((it) => it?.getTime() ?? [])
  return known.length === 0 ? null : new Date(choose(...known))
}
