import type { AgentCounts, SignatureId } from '../../knowledge/signatures.ts'
import type { ArgumentConflict } from '../../knowledge/log-signatures.ts'
import type { Rate } from './rate.ts'
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
