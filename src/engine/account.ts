import { handlerOf } from '../actions/index.ts'
import type { Shortfall } from '../actions/index.ts'
import type { Plan, RepairId } from '../core/plan.ts'
import type { TreeAccount } from '../core/repair-document.ts'
import type { RunEvent } from '../core/run.ts'
import { notesOfStep } from '../core/run-state.ts'

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
