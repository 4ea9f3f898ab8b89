import { setTimeout as sleep } from 'node:timers/promises'
import type { DoctorReport } from '../core/report.ts'

const pollMs = 1000

/**
 * Runs the checks of a plan until none of them finds an error, or the time is up: each by its status, a problem by its severity.
 */
export async function verify(
  examine: () => Promise<Pick<DoctorReport, 'checks'>>,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<Record<string, string>> {
  const end = performance.now() + patienceMs
  for (;;) {
    const { checks } = await examine()
    const statuses = Object.fromEntries(checks.map(({ id, status, severity }) => [id, severity ?? status]))
    const isSettled = !Object.values(statuses).includes('error')
    if (isSettled || performance.now() > end || signal.aborted) return statuses
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
