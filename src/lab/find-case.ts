import { AdminError } from '../core/error.ts'
import { closestNames, closestTo } from '../core/nearest.ts'
import { caseName } from './fault.ts'
import type { Fault, FaultCase } from './fault.ts'
import { faults } from './faults/index.ts'
import { command } from '../core/shell-command.ts'

export interface NamedCase {
  /** `fault` or `fault/variant` */
  name: string
  fault: Fault
  case: FaultCase
}

/** Lists every way to break the lab, in the order of the fault matrix. */
export function allCases(): NamedCase[] {
  return faults.flatMap((fault) => fault.cases.map((it) => ({ name: caseName(fault, it), fault, case: it })))
}

/**
 * Finds the case named `typed`; a fault's id alone means its first case. Throws USAGE, which suggests the closest names
 * as arguments of `lab VERB`.
 */
export function findCase(typed: string, verb: 'break' | 'mend'): NamedCase {
  const cases = allCases()
  const found = cases.find(({ name, fault }) => name === typed || fault.id === typed)
  if (found) return found
  const known = cases.flatMap(({ name, fault }) => [fault.id, name])
  throw new AdminError('USAGE', `no fault \`${typed}\`; ${closestTo(typed, known)}`, [
    ...closestNames(typed, known).map((name) => command`testops-admin lab ${verb} ${name}`),
    'testops-admin lab faults',
  ])
}
