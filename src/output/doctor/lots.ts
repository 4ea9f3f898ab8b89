import type { CheckReport } from '../../core/report.ts'

/** Checks about which the same is said. */
export interface Lot {
  /** The first of them, which speaks for all */
  check: CheckReport
  /** Names of all of them, as typed after `--only` */
  names: readonly string[]
}

/**
 * Groups the checks for which `said` returns the same; each lot stands where its first check does. `all` are the
 * report's checks.
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

/** Returns a lot of one check. */
export function lotOf(check: CheckReport): Lot {
  return { check, names: [check.id] }
}

/**
 * Returns the checks' ids as they are typed after `--only`. A group such as `broker/*` replaces its checks if all of
 * the report's are among them.
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
