import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import type { CheckReport, DoctorReport } from '../core/check.ts'
import { exitCodeOf } from '../engine/report.ts'
import { goOn } from './lab.ts'
import type { Lab } from './lab.ts'

const deadlineMs = 60_000

/** The one problem that waiting cannot clear. */
const unfinished = 'service/unfinished-repair'

/**
 * Waits until `doctor` finds nothing. Throws FAILED after a minute with the remaining problems, or at once if only a
 * repair is unfinished; INTERRUPTED.
 */
export async function waitUntilHealthy(lab: Lab): Promise<DoctorReport> {
  for (const end = Date.now() + deadlineMs; ; await sleep(250)) {
    goOn(lab)
    const report = await lab.diagnose(lab.signal)
    if (exitCodeOf(report) === 0) return report
    const { rootCauses } = report
    if (rootCauses.length === 1 && rootCauses[0] === unfinished) throw leftUnfinished(report)
    if (Date.now() > end) throw unhealthy(report)
  }
}

/** Describes the problems in one line: only the root causes, if there are any. */
function whatIsWrong({ checks, rootCauses }: DoctorReport): string {
  const bad = checks.filter(({ status }) => status === 'problem' || status === 'unknown')
  const roots = bad.filter(({ id }) => rootCauses.includes(id))
  const said = ({ id, findings, error }: CheckReport): string =>
    `${id}: ${findings?.[0]?.message ?? error?.message ?? 'unknown'}`
  return (roots.length > 0 ? roots : bad).map(said).join('; ')
}

function leftUnfinished(report: DoctorReport): AdminError {
  const { remedy } = report.checks.find(({ id }) => id === unfinished) ?? {}
  return new AdminError(
    'FAILED',
    `the faults are gone, but a repair in the lab is unfinished: ${whatIsWrong(report)}`,
    remedy?.commands ?? [],
  )
}

function unhealthy(report: DoctorReport): AdminError {
  return new AdminError('FAILED', `the lab is not healthy after ${deadlineMs / 1000} s: ${whatIsWrong(report)}`, [
    'testops-admin doctor -d lab',
    'testops-admin lab mend',
    'testops-admin lab down',
  ])
}
