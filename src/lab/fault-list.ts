import type { Severity } from '../core/check.ts'
import { allCases } from './find-case.ts'
import type { Fault } from './fault.ts'
import type { ServerKind } from './servers/index.ts'

/** One row of the fault matrix. */
export interface FaultRow {
  /** argument of `lab break` */
  name: string
  fault: string
  variant: string | null
  kind: Fault['kind']
  title: string
  made: string
  repair: string
  /** words of the command after which `doctor` finds nothing; null: no single command does it */
  repairedBy: readonly string[] | null
  /** words of a command that is refused and changes nothing; null: none known */
  refused: readonly string[] | null
  expected: {
    exitCode: 0 | 1 | 2
    /** every problem that no other problem explains */
    problems: readonly { check: string; severity: Severity }[]
    rootCauses: readonly string[]
    /** checks whose problems may follow */
    allowedConsequences: readonly string[]
  }
  needs: { own: readonly ServerKind[]; broker: string | null }
}

/** The fault matrix, as data. */
export function faultRows(): FaultRow[] {
  return allCases().map(({ name, fault, case: { variant, made, expected, repairedBy, refused, needs } }) => ({
    name,
    fault: fault.id,
    variant,
    kind: fault.kind,
    title: fault.title,
    made,
    repair: fault.repair,
    repairedBy: repairedBy ?? null,
    refused: refused ?? null,
    expected: {
      exitCode: expected.exitCode,
      problems: Object.entries(expected.problems).map(([check, severity]) => ({ check, severity })),
      rootCauses: Object.keys(expected.problems),
      allowedConsequences: expected.allowedConsequences,
    },
    needs: { own: needs?.own ?? [], broker: needs?.broker ?? null },
  }))
}
