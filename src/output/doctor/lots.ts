import type { CheckReport } from '../../core/report.ts'

/** Checks of which one and the same is to be said. */
export interface Lot {
  /** the first of them, which speaks for all */
  check: CheckReport
  /** of all of them */
  names: readonly string[]
}

/**
 * Puts together what `said` says the same of; each lot stands where its first check does. `all`: the report's checks.
 */
export function lotsOf(
  checks: readonly CheckReport[],
  said: (check: CheckReport) => unknown,
  all: readonly CheckReport[],
): Lot[] {
  const lots = new Map<string, [CheckReport, ...CheckReport[]]>()
  for (const check of checks) {
    const key = JSON.stringify(said(check) ?? { nothingButThis: check.id })
    const lot = lots.get(key)
    if (lot) lot.push(check)
    else lots.set(key, [check])
  }
  return [...lots.values()].map((lot) => ({ check: lot[0], names: namesOf(lot, all) }))
}

/** A check by itself. */
export function lotOf(check: CheckReport): Lot {
  return { check, names: [check.id] }
}

/**
 * The checks' ids as they are typed after `--only`: where all of the report's checks of a group are among them, the
 * group in their place, `broker/*`.
 */
export function namesOf(checks: readonly CheckReport[], all: readonly CheckReport[]): string[] {
  const names = checks.map(({ id }) => {
    const size = sizeOf(groupOf(id), all)
    return size > 1 && sizeOf(groupOf(id), checks) === size ? `${groupOf(id)}/*` : id
  })
  return [...new Set(names)]
}

function sizeOf(group: string, checks: readonly CheckReport[]): number {
  return checks.filter(({ id }) => groupOf(id) === group).length
}

function groupOf(id: string): string {
  return id.split('/')[0] ?? id
}
