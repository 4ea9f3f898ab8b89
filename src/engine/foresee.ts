import type { ActionKind } from '../core/action.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import type { Plan } from '../core/plan.ts'
import type { RunHistory } from '../core/run.ts'
import type { Journals } from './catch-up.ts'

/**
 * The plan with what the journals of this deployment say of it: how long such steps took, and whether another machine
 * could go on.
 */
export async function foresee(plan: Plan, journals: Journals, { file }: Pick<Deployment, 'file'> = {}): Promise<Plan> {
  if (plan.steps.length === 0) return plan
  const former = await journals.here.list()
  const usual = usualDurations(former.flatMap((it) => ('record' in it ? [it] : [])))
  // a file is of this machine anyway
  const alone = file ? null : await reasonAlone(journals)
  return {
    ...plan,
    notes:
      alone === null
        ? plan.notes
        : [
            ...plan.notes,
            `the deployment can keep no copy of the journal, so \`resume\` works from this machine only: ${alone}`,
          ],
    expectedMs: plan.steps.map(({ action }) => usual.get(action.kind) ?? null),
  }
}

/** The median of what each kind of action took where it was performed in one go, in milliseconds (DESIGN.md 6.1). */
function usualDurations(histories: readonly RunHistory[]): ReadonlyMap<ActionKind, number> {
  const taken = new Map<ActionKind, number[]>()
  for (const { record, events } of histories) {
    record.plan.steps.forEach(({ action }, index) => {
      const own = events.filter((event) => 'step' in event && event.step === index)
      const [begun, done] = own
      if (begun?.event !== 'intent' || done?.event !== 'done' || done.already) return
      taken.set(action.kind, [...(taken.get(action.kind) ?? []), done.durationMs])
    })
  }
  return new Map([...taken].map(([kind, all]) => [kind, all.sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]!]))
}

/** Why the deployment can keep no journal; null: it can. */
async function reasonAlone({ there }: Journals): Promise<string | null> {
  try {
    await there()
    return null
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error.message
    throw error
  }
}
