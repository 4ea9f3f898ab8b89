import type { Severity } from '../core/check.ts'
import type { Changes } from './changes.ts'
import type { Lab } from './lab.ts'
import type { RabbitmqLine, ServerKind } from './servers/index.ts'

/** One way in which a deployment breaks, or only looks broken. One file each in faults/. */
export interface Fault {
  id: string
  /** healthy: looks like a fault and is none, so that nothing may be reported */
  kind: 'fault' | 'healthy'
  /** what is wrong, in a few words */
  title: string
  /** what repairs it */
  repair: string
  cases: readonly [FaultCase, ...FaultCase[]]
}

/** One way to make a fault: the cause is set, never the symptom. */
export interface FaultCase {
  /** null where the fault has only one */
  variant: string | null
  /** one sentence: how the lab makes it */
  made: string
  expected: Expected
  /** words of the command that repairs it: afterwards `doctor` finds nothing */
  repairedBy?: readonly string[]
  /** words of a command that must be refused (4) and change nothing; `{lab}` stands for the lab's folder */
  refused?: readonly string[]
  /** what is written down differently while it is broken */
  changes?: Changes
  needs?: Needs
  /** makes the cause, on top of `changes`, which are written down already; returns once it has taken effect */
  apply: (lab: Lab) => Promise<void>
  /**
   * Takes away what `apply` did to the servers, also where that was cut short; harmless where nothing was done. All
   * servers run then; the service does not, and is started afterwards.
   */
  revert: (lab: Lab) => Promise<void>
}

/** What `doctor` must say. */
export interface Expected {
  exitCode: 0 | 1 | 2
  /** every problem that no other explains, by check; nothing else may be reported but what they cause */
  problems: Readonly<Record<string, Severity>>
  /** checks whose problems may follow from those */
  allowedConsequences: readonly string[]
}

interface Needs {
  /** servers that must be the lab's own: they are stopped, filled or limited */
  own?: readonly ServerKind[]
  broker?: RabbitmqLine
  /** the service must be able to work: it is asked to do something, or waited for */
  serving?: true
}

/** `fault`, or `fault/variant`. */
export function caseName(fault: Pick<Fault, 'id'>, { variant }: Pick<FaultCase, 'variant'>): string {
  return variant === null ? fault.id : `${fault.id}/${variant}`
}

/** For faults that need no more than what is written down. */
export async function nothing(): Promise<void> {
  return undefined
}
