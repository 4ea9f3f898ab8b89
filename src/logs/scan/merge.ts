import { signatures } from '../../knowledge/signatures.ts'
import { causeCounter } from './cause-counter.ts'
import { backwardMs } from './tally.ts'
import type { Tally } from './tally.ts'

/** Merges the tallies of unrelated streams, such as containers or files. `firstLine` counts through all of them. */
export function mergeTallies(tallies: readonly Tally[]): Tally {
  const sum = summing()
  for (const tally of tallies) sum.add(tally)
  return sum.tally()
}

/**
 * Joins the parts of one stream, which each begin with a record. They may come in any order, and few are kept at a
 * time.
 */
export interface Joiner {
  add(part: { index: number; isWhole: boolean; tally: Tally }): void
  /**
   * Returns the tally of the parts from the first one on, up to one that was given up or is missing; `parts` is their
   * number
   */
  joined(): { tally: Tally; parts: number }
}

export function joiner(): Joiner {
  const early = new Map<number, Parameters<Joiner['add']>[0]>()
  const sum = summing()
  let [parts, isOver] = [0, false]
  let lastHit: Date | null = null
  return {
    add(part) {
      early.set(part.index, part)
      for (let next = early.get(parts); next && !isOver; next = early.get(parts)) {
        early.delete(parts)
        const { first, last } = next.tally.backward
        sum.add(next.tally, first !== null && lastHit !== null && first.getTime() < lastHit.getTime() - backwardMs)
        lastHit = last ?? lastHit
        isOver = !next.isWhole
        parts += 1
      }
    },
    joined: () => ({ tally: sum.tally(), parts }),
  }
}

/** Adds up tallies, and keeps only the sum. */
function summing(): { add(tally: Tally, isBackward?: boolean): void; tally(): Tally } {
  const counters = new Map(signatures.map(({ id }) => [id, causeCounter(id)]))
  let [bytes, lines, steps] = [0, 0, 0]
  let [wideAt, from, to]: [number | null, Date | null, Date | null] = [null, null, null]
  let [firstHit, lastHit]: [Date | null, Date | null] = [null, null]
  let [hasLines, isUndated] = [false, true]
  return {
    add(tally, isBackward = false) {
      if (tally.wideAt !== null) wideAt ??= bytes + tally.wideAt
      bytes += tally.bytes
      for (const cause of tally.causes) counters.get(cause.id)!.join(cause, lines)
      lines += tally.lines
      if (tally.from !== null && (from === null || tally.from < from)) from = tally.from
      if (tally.to !== null && (to === null || tally.to > to)) to = tally.to
      steps += tally.backward.steps + (isBackward ? 1 : 0)
      firstHit ??= tally.backward.first
      lastHit = tally.backward.last ?? lastHit
      if (tally.lines > 0) {
        hasLines = true
        isUndated &&= tally.datesUnknown
      }
    },
    tally: () => ({
      bytes,
      lines,
      wideAt,
      from,
      to,
      datesUnknown: hasLines && isUndated,
      backward: { steps, first: firstHit, last: lastHit },
      causes: [...counters.values()].flatMap((it) => it.cause() ?? []),
    }),
  }
}
