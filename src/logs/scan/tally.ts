import type { AgentCounts, SignatureId } from '../../knowledge/signatures.ts'
import type { ArgumentConflict } from '../../knowledge/log-signatures.ts'
import type { Rate } from './rate.ts'
import type { Sample } from './sample.ts'

/** What was found of one signature. */
export interface Cause {
  readonly id: SignatureId
  /** as the table has it; an error where an agent's counts tell of one (SPEC.md 7) */
  readonly severity: 'error' | 'warning' | 'info'
  /** lines, as `grep -c` counts them in the C locale */
  readonly count: number
  /** lines of records whose time is not known */
  readonly untimed: number
  /** records that hold such a line */
  readonly records: number
  /** earliest and latest time of these records */
  readonly first: Date | null
  readonly last: Date | null
  /** number of the first such line, from 1 */
  readonly firstLine: number
  /** the first ones that differ in more than numbers */
  readonly samples: readonly Sample[]
  /** of `unknown-host`: names, and the number of records that hold each */
  readonly hosts: ReadonlyMap<string, number>
  /** of `precondition-failed`: what was asked for and refused, each once, in the order of appearance */
  readonly conflicts: readonly ArgumentConflict[]
  /** of `agent-counts`: what agents counted, each once, in the order of appearance */
  readonly agents: readonly AgentCounts[]
  readonly rate: Rate
}

/** What a stream held. Plain data: it can be sent to another thread. */
export interface Tally {
  readonly bytes: number
  readonly lines: number
  /** where text in UTF-16 begins, in bytes: nothing can be found in it; null: there is none */
  readonly wideAt: number | null
  /** earliest and latest time among the first records, the last one, and those in which something was found */
  readonly from: Date | null
  readonly to: Date | null
  /** there are lines, and none begins with a date in a known form: times are unknown */
  readonly datesUnknown: boolean
  /**
   * How often, of two records of one container in which something was found, the later one bears an earlier time, by
   * more than a second; and the times of the first and the last of these records.
   */
  readonly backward: { readonly steps: number; readonly first: Date | null; readonly last: Date | null }
  /** what was found, in the order of the table */
  readonly causes: readonly Cause[]
}

/** A clock that is put right by less than this has not run backwards. */
export const backwardMs = 1000

/** so many samples, host names and other things are kept of one signature */
export const kept = { samples: 3, hosts: 1000, conflicts: 50, agents: 20 } as const
