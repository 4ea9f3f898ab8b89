import { setTimeout as sleep } from 'node:timers/promises'
import type { DoctorReport } from '../core/check.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { handlerOf } from '../actions/index.ts'
import type { Shortfall } from '../actions/index.ts'
import type { Plan, RepairId } from '../core/plan.ts'
import type { TreeAccount } from '../core/repair.ts'
import type { RunEvent } from '../core/run.ts'
import { notesOfStep } from '../core/run-state.ts'

const pollMs = 1000

export interface Verification {
  /** The status of each check by its id; for a problem, its severity */
  statuses: Readonly<Record<string, string>>
  /** Why a check is not ok, by its id: the reason, error or first finding */
  reasons: Readonly<Record<string, string>>
  /** What to do about the first check that found an error */
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

/** Returns the command to type next. A problem that another one causes has no remedy of its own. */
function nextOf(checks: DoctorReport['checks']): Pick<Verification, 'next'> {
  const next = checks.find(({ severity, remedy }) => severity === 'error' && remedy)?.remedy?.commands[0]
  return next === undefined ? {} : { next }
}

/** Repairs whose documents have these counts even if there is nothing to do. */
const counting: Partial<Record<RepairId, TreeAccount>> = {
  'migrate-trees': { requested: 0, accepted: 0, skipped: 0, failed: [] },
}

/** Returns the counts that such a repair adds to its document, from the events of its steps. */
export function accountOf({ repair, steps }: Plan, events: readonly RunEvent[]): Partial<TreeAccount> {
  for (const [index, { action }] of steps.entries()) {
    const account = handlerOf(action).account?.(action, notesOfStep(events, index))
    if (account) return account
  }
  return counting[repair] ?? {}
}

/** Returns what a run failed to achieve although all its steps are over; null if it achieved everything. */
export function shortfallOf({ steps }: Plan, events: readonly RunEvent[]): Shortfall | null {
  const all = steps.flatMap(
    ({ action }, index) => handlerOf(action).shortfall?.(action, notesOfStep(events, index)) ?? [],
  )
  if (all.length === 0) return null
  const [file] = all.flatMap((it) => it.file ?? [])
  return {
    message: all.map(({ message }) => message).join('; '),
    suggestions: all.flatMap(({ suggestions }) => suggestions),
    ...(file && { file }),
  }
}
