import { setTimeout as sleep } from 'node:timers/promises'
import type { DoctorReport } from '../core/report.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { handlerOf } from '../actions/index.ts'
import type { Shortfall } from '../actions/index.ts'
import type { Plan, RepairId } from '../core/plan.ts'
import type { TreeAccount } from '../core/repair-document.ts'
import type { RunEvent } from '../core/run.ts'
import { notesOfStep } from '../core/run-state.ts'

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

/** Repairs that count what they ask for, also where there is nothing to do. */
const counting: Partial<Record<RepairId, TreeAccount>> = {
  'migrate-trees': { requested: 0, accepted: 0, skipped: 0, failed: [] },
}

/** What stands in the document of such a repair beside the rest, from what is on record of its steps. */
export function accountOf({ repair, steps }: Plan, events: readonly RunEvent[]): Partial<TreeAccount> {
  for (const [index, { action }] of steps.entries()) {
    const account = handlerOf(action).account?.(action, notesOfStep(events, index))
    if (account) return account
  }
  return counting[repair] ?? {}
}

/** What a run that came to its end has not achieved; null: all of it is achieved. */
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
