import { createHash } from 'node:crypto'
import { checks } from '../checks/index.ts'
import { AdminError } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import type { DrillRequest } from './drill-record.ts'
import { allCases } from './fault-list.ts'
import type { NamedCase } from './fault-list.ts'
import type { DrillStep } from './fault.ts'
import { nothing } from './fault.ts'
import type { RabbitmqLine } from './servers/index.ts'

/** Returns why drills leave a fault out; null: they may draw it. */
export function whyNotInDrills({ fault, case: it }: NamedCase): string | null {
  if (Object.keys(it.expected.problems).length === 0) return 'doctor finds no problem, so that nothing can be named'
  const why = it.notInDrills ?? fault.notInDrills
  if (why !== undefined) return why
  return stepsOf(it).length === 0 ? 'no command is known that mends it' : null
}

export function stepsOf({ quickest, repairedBy }: NamedCase['case']): readonly DrillStep[] {
  return quickest ?? (repairedBy ? [repairedBy] : [])
}

export function rootsOf({ case: { expected } }: NamedCase): readonly string[] {
  return Object.keys(expected.problems)
}

/**
 * True if doctor names a cause of each of two faults: none is among what follows from the other. Both must do with one
 * broker.
 */
function canBeToldApart(one: NamedCase, other: NamedCase): boolean {
  const follows = (it: NamedCase): readonly string[] => [
    ...rootsOf(it),
    ...it.case.expected.allowedConsequences,
    ...checks.filter(({ id }) => rootsOf(it).includes(id)).flatMap(({ explains = [] }) => explains),
  ]
  const hides = (it: NamedCase, hidden: NamedCase): boolean => rootsOf(hidden).some((id) => follows(it).includes(id))
  return one.fault.id !== other.fault.id && !hides(one, other) && !hides(other, one)
}

/** Lists the groups of checks that `only` may name. */
export function drillGroups(): string[] {
  const drawable = allCases().filter((it) => whyNotInDrills(it) === null)
  return [...new Set(drawable.flatMap(rootsOf).map(groupOf))].sort()
}

function groupOf(check: string): string {
  return check.split('/')[0]!
}

/**
 * Draws the faults of a drill in a lab with that broker: first a fault, then one of its cases. Faults that another
 * broker needs are left out, since an exchange takes long. Throws USAGE if the lab cannot make that many.
 */
export function drawFaults({ faults: count, seed, only }: DrillRequest, broker: RabbitmqLine): readonly NamedCase[] {
  const drawable = allCases().filter(
    (it) =>
      whyNotInDrills(it) === null &&
      (it.case.needs?.broker ?? broker) === broker &&
      (only === null || rootsOf(it).some((id) => groupOf(id) === only)),
  )
  const partnersOf = (one: NamedCase): NamedCase[] => drawable.filter((other) => canBeToldApart(one, other))
  const first = drawOne(count === 1 ? drawable : drawable.filter((one) => partnersOf(one).length > 0), seed, 'first')
  if (first === null)
    throw new AdminError('USAGE', `the lab cannot combine two faults of the group ${only}`, [
      command`testops-admin lab drill --only ${String(only)}`,
      'testops-admin lab drill --faults 2',
    ])
  const second = count === 1 ? null : drawOne(partnersOf(first), seed, 'second')
  return second ? [first, second].sort((one, other) => Number(isLate(one)) - Number(isLate(other))) : [first]
}

/** True for a change of settings that the next restart would apply: making another fault may restart the service. */
function isLate({ case: { apply } }: NamedCase): boolean {
  return apply === nothing
}

function drawOne(from: readonly NamedCase[], seed: number, turn: string): NamedCase | null {
  const faults = [...new Set(from.map(({ fault }) => fault.id))]
  const fault = faults[number(seed, `${turn} fault`, faults.length)]
  const cases = from.filter((it) => it.fault.id === fault)
  return cases[number(seed, `${turn} case`, cases.length)] ?? null
}

/** Returns a number below `below` that depends only on the seed and what it is for. */
function number(seed: number, use: string, below: number): number {
  const digest = createHash('sha256').update(`${seed} ${use}`).digest()
  return below === 0 ? 0 : digest.readUInt32BE(0) % below
}
