import { setTimeout as sleep } from 'node:timers/promises'
import type { DoctorReport } from '../core/report.ts'
import type { Suggestion } from '../core/shell-command.ts'

const pollMs = 1000

export interface Verification {
  /** each check by its status, a problem by its severity */
  statuses: Readonly<Record<string, string>>
  /** why a check could not judge */
  reasons: Readonly<Record<string, string>>
  /** what is done about the first that found an error */
  next?: Suggestion
}

/** Runs the checks of a plan until none of them finds an error, or the time is up. */
export async function verify(
  examine: () => Promise<Pick<DoctorReport, 'checks'>>,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<Verification> {
  const end = performance.now() + patienceMs
  for (;;) {
    const { checks } = await examine()
    const statuses = Object.fromEntries(checks.map(({ id, status, severity }) => [id, severity ?? status]))
    const isSettled = !Object.values(statuses).includes('error')
    if (isSettled || performance.now() > end || signal.aborted)
      return { statuses, reasons: reasonsOf(checks), ...nextOf(checks) }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

function reasonsOf(checks: DoctorReport['checks']): Record<string, string> {
  return Object.fromEntries(
    checks.flatMap(({ id, reason, error, findings }) => {
      const why = reason ?? error?.message ?? findings?.[0]?.message
      return why === undefined ? [] : [[id, why]]
    }),
  )
}

/** A problem that another one causes has no remedy of its own. */
function nextOf(checks: DoctorReport['checks']): Pick<Verification, 'next'> {
  const next = checks.find(({ severity, remedy }) => severity === 'error' && remedy)?.remedy?.commands[0]
  return next === undefined ? {} : { next }
}
