import type { Severity } from '../core/check.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { Changes } from './changes.ts'
import type { Lab } from './lab.ts'
import type { RabbitmqLine, ServerKind } from './servers/index.ts'

/** One way in which a deployment breaks, or only looks broken. Each is in the file of its subject in `faults/`. */
export interface Fault {
  id: string
  /** healthy: only looks like a fault, so doctor must report nothing */
  kind: 'fault' | 'healthy'
  /** what is wrong, in a few words */
  title: string
  /** what repairs it */
  repair: string
  /** why `lab drill` draws none of its cases */
  notInDrills?: string
  cases: readonly [FaultCase, ...FaultCase[]]
}

/** One way to make a fault. It sets the cause, never the symptom. */
export interface FaultCase {
  /** null if the fault has only one case */
  variant: string | null
  /** one sentence: how the lab makes it */
  made: string
  expected: Expected
  /** words of the command that repairs it; afterwards `doctor` finds nothing */
  repairedBy?: readonly string[]
  /** steps of the quickest way to mend it, if `repairedBy` does not say them all; doctor finds nothing after them */
  quickest?: readonly DrillStep[]
  /** why `lab drill` does not draw it */
  notInDrills?: string
  /** words of a command that must be refused (exit 4) and change nothing; `{lab}` stands for the lab's folder */
  refused?: readonly string[]
  /** changes to the lab's files while it is broken */
  changes?: Changes
  needs?: Needs
  /** makes the cause after `changes` are written; returns once it has taken effect */
  apply: (lab: Lab) => Promise<void>
  /**
   * Undoes what `apply` did to the servers, even if it was cut short; harmless if it did nothing. All servers are
   * running; the service is stopped, and started afterwards.
   */
  revert: (lab: Lab) => Promise<void>
}

/**
 * A step that a person takes in a drill: the words of a command of this program, or a file in the lab's folder to edit,
 * and what to change in it.
 */
export type DrillStep = readonly string[] | { edit: string; so: Suggestion }

/** Why `lab drill` leaves some faults out. Drills have only what a person can mend with documented commands. */
export const notInDrills = {
  log: 'its traces stay in a log, so doctor goes on finding it for a while after it is mended',
  machine: "the lab plays the service's machine, and no documented command changes that machine",
  server: 'only the lab itself can start this server again or free its resources',
  accounts: 'the practice service has no pages for users and API tokens',
} as const

/** Expected result of `doctor`. */
export interface Expected {
  exitCode: 0 | 1 | 2
  /** every problem that no other explains, by check; apart from their consequences, doctor reports nothing else */
  problems: Readonly<Record<string, Severity>>
  /** checks whose problems may follow from those */
  allowedConsequences: readonly string[]
}

interface Needs {
  /** servers that must be the lab's own, since the fault stops, fills or limits them */
  own?: readonly ServerKind[]
  broker?: RabbitmqLine
  /** the service must be working, since the fault calls it or waits for it */
  serving?: true
}

/** Returns `fault`, or `fault/variant` if the case has a variant. */
export function caseName(fault: Pick<Fault, 'id'>, { variant }: Pick<FaultCase, 'variant'>): string {
  return variant === null ? fault.id : `${fault.id}/${variant}`
}

/** Does nothing: the `apply` of faults that need only `changes`, and the `revert` of those that need no undoing. */
export async function nothing(): Promise<void> {
  return undefined
}

/** Checks that may also fail when the service cannot start or does not work. */
export const serviceFails: readonly string[] = [
  'service/running',
  'service/crashes',
  'service/ready',
  'service/log-errors',
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/latency',
  'trees/migrated',
]

/** Checks that may also fail when the service runs without one of its parts, since its health endpoint says so. */
export const apiFails: readonly string[] = serviceFails.filter((id) => !id.startsWith('service/'))
