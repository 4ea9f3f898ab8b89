import { firstAbove } from '../../core/lookup.ts'
import type { ArgumentConflict } from '../../knowledge/log-signatures.ts'
import type { AgentCounts, SignatureId } from '../../knowledge/signatures.ts'
import type { Sample } from './sample.ts'

/** What was found of one signature. */
export interface Cause {
  readonly id: SignatureId
  /** As in the table; an error if an agent's counts show one (SPEC.md 7) */
  readonly severity: 'error' | 'warning' | 'info'
  /** Lines, as `grep -c` counts them in the C locale */
  readonly count: number
  /** Lines of records whose time is not known */
  readonly untimed: number
  /** Records that hold such a line */
  readonly records: number
  /** Earliest and latest time of these records */
  readonly first: Date | null
  readonly last: Date | null
  /** Number of the first such line, from 1 */
  readonly firstLine: number
  /** The first ones that differ in more than numbers */
  readonly samples: readonly Sample[]
  /** For `unknown-host`: names, and the number of records that hold each */
  readonly hosts: ReadonlyMap<string, number>
  /** For `precondition-failed`: what was requested and refused, each once, in order of appearance */
  readonly conflicts: readonly ArgumentConflict[]
  /** For `agent-counts`: what agents counted, each once, in order of appearance */
  readonly agents: readonly AgentCounts[]
  readonly rate: Rate
}

/** What was found in a stream. Plain data: it can be sent to another thread. */
export interface Tally {
  readonly bytes: number
  readonly lines: number
  /** Byte at which text in UTF-16 begins, in which nothing can be found; null if there is none */
  readonly wideAt: number | null
  /** Earliest and latest time among the first records, the last one, and those with a match */
  readonly from: Date | null
  readonly to: Date | null
  /** True if there are lines, and none begins with a date in a known form: times are unknown */
  readonly datesUnknown: boolean
  /**
   * `steps`: how often a record with a match is more than a second earlier than the one before it of the same
   * container. `first`, `last`: times of the first and the last record with a match.
   */
  readonly backward: { readonly steps: number; readonly first: Date | null; readonly last: Date | null }
  /** What was found, in the order of the table */
  readonly causes: readonly Cause[]
}

/** Milliseconds; a clock that is corrected by less than this has not run backwards. */
export const backwardMs = 1000

/** Maximum number of samples, host names and other things kept of one signature */
export const kept = { samples: 3, hosts: 1000, conflicts: 50, agents: 20 } as const

/** Maximum number of hosts whose repetitions the search counts by itself: a bit each */
export const mostNumbered = 32

/** How many lines there were over time. */
export interface Rate {
  /** milliseconds that one count stands for */
  readonly width: number
  /** where each stretch begins, in milliseconds since 1970, in their order; those without a line are left out */
  readonly starts: Float64Array
  /** lines in each of these stretches */
  readonly counts: Float64Array
}

interface RateCounter {
  /** Adds what another one counted */
  join(other: Rate): void
  rate(): Rate
}

/** Maximum number of stretches that are kept apart. */
export const mostStretches = 512

/**
 * Counts in stretches of a second, or twice, four times, … as long where there are too many: the same ones in whatever
 * order it is told.
 */
export function rateCounter(): RateCounter {
  let width = 1000
  // sorted numbers, not a map: each part of a log is counted and joined, and maps made most of the garbage
  const indexes: number[] = []
  const counts: number[] = []
  const widen = (): void => {
    width *= 2
    let kept = 0
    for (let from = 0; from < indexes.length; from += 1) {
      const index = Math.floor(indexes[from]! / 2)
      const count = counts[from]!
      if (kept > 0 && indexes[kept - 1] === index) counts[kept - 1]! += count
      else {
        indexes[kept] = index
        counts[kept] = count
        kept += 1
      }
    }
    indexes.length = counts.length = kept
  }
  const add = (at: number, count: number): void => {
    const index = Math.floor(at / width)
    // most lines come in their order
    let place = indexes.length
    if (place > 0 && indexes[place - 1]! > index) place = firstAbove(indexes, index)
    if (place > 0 && indexes[place - 1] === index) {
      counts[place - 1]! += count
      return
    }
    if (place === indexes.length) {
      indexes.push(index)
      counts.push(count)
    } else {
      indexes.splice(place, 0, index)
      counts.splice(place, 0, count)
    }
    while (indexes.length > mostStretches) widen()
  }
  return {
    join({ width: theirs, starts, counts: lines }) {
      if (indexes.length === 0 && width <= theirs) {
        width = theirs
        for (let index = 0; index < starts.length; index += 1) {
          indexes.push(starts[index]! / theirs)
          counts.push(lines[index]!)
        }
        return
      }
      // a wide stretch cannot be told apart among narrow ones
      while (width < theirs) widen()
      for (let index = 0; index < starts.length; index += 1) add(starts[index]!, lines[index]!)
    },
    rate: () => ({
      width,
      starts: new Float64Array(indexes).map((it) => it * width),
      counts: new Float64Array(counts),
    }),
  }
}

/** A cause, judged together with the others. */
interface JudgedCause extends Cause {
  /** When it was over, if its kind alone would be a problem */
  readonly overBy?: Date
  /** The fault that it is part of, if its kind alone would point to another one */
  readonly partOf?: 'lock-stolen'
}

/** Maximum milliseconds between release and refusal: Liquibase releases the lock as it gives up (FIELD-NOTES.md 2). */
const breathMs = 2000

/**
 * Judges causes together. A start that waits for the change-log lock and then gets it is normal: instances that start
 * together take turns (FIELD-NOTES.md 2). A start that was refused the lock ended, whatever a later one did. If it
 * released the lock at its end, the lock is not stuck, but its holder may still be at work without it.
 */
export function judged(causes: readonly Cause[]): readonly JudgedCause[] {
  const lastOf = (id: Cause['id']): Date | null => causes.find((it) => it.id === id)?.last ?? null
  const taken = lastOf('lock-taken')
  const isStolen = isReleasedInVain(lastOf('lock-waiting'), lastOf('lock-released'), lastOf('lock-refused'), taken)
  return causes.map((cause) => {
    if (isStolen && (cause.id === 'lock-refused' || cause.id === 'lock-waiting'))
      return { ...cause, partOf: 'lock-stolen' as const }
    const isOver =
      cause.id === 'lock-waiting' && cause.untimed === 0 && cause.last !== null && taken !== null && taken >= cause.last
    return isOver ? { ...cause, severity: 'info' as const, overBy: taken } : cause
  })
}

function isReleasedInVain(
  waited: Date | null,
  released: Date | null,
  refused: Date | null,
  taken: Date | null,
): boolean {
  if (waited === null || released === null || refused === null) return false
  const isInOrder = waited <= released && released <= refused && refused.getTime() - released.getTime() <= breathMs
  return isInOrder && (taken === null || taken < waited || taken > refused)
}
