import type { Plan } from '../../core/plan.ts'
import { progressOf } from '../../core/run-state.ts'
import type { RunEvent } from '../../core/run.ts'
import { secondMigrationRisks } from '../../domain/lock/stolen.ts'
import { tolerant, wanted } from '../../domain/wanted.ts'
import type { Standing } from '../../engine/records.ts'
import { stepsToUndo } from '../../engine/undo.ts'
import { refuseRisks } from './accepted-risks.ts'
import type { RepairFlags } from './flags.ts'
import type { RepairSession } from './session.ts'

/**
 * Throws REFUSED if the rest of the run would start the service while the log shows that its last start released the
 * lock of another migration, unless that risk was accepted now or when the run began.
 */
export async function refuseSecondMigration(
  { opened: { deployment, open } }: RepairSession,
  { history: { record, events } }: Standing,
  isBack: boolean,
  flags: RepairFlags,
  words: readonly string[],
): Promise<void> {
  if (!(isBack ? startsOnUndo(record.plan, events) : startsOnResume(record.plan, events))) return
  const status = await tolerant(open.service().then(async (service) => service.status()))
  if (status === null) return
  const logs = await wanted(() => open.logs())
  refuseRisks(
    { risks: await secondMigrationRisks(logs, status, deployment) },
    [...record.acceptedRisks, ...(flags['accept-risk'] ?? [])],
    words,
  )
}

function startsOnResume({ steps }: Plan, events: readonly RunEvent[]): boolean {
  const { done } = progressOf(events)
  return steps.some(
    ({ action: { kind } }, index) => !done.has(index) && (kind === 'start-service' || kind === 'upgrade-release'),
  )
}

function startsOnUndo(plan: Plan, events: readonly RunEvent[]): boolean {
  return stepsToUndo(plan, events).some((index) => {
    const { action } = plan.steps[index]!
    return action.kind === 'upgrade-release' || (action.kind === 'stop-service' && action.wasRunning)
  })
}
