import type { Plan } from '../../core/plan.ts'
import { progressOf } from '../../core/run-state.ts'
import type { RunEvent } from '../../core/run.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command } from '../../core/shell-command.ts'
import { secondMigrationRisks } from '../../domain/lock/steps.ts'
import { tolerant, wanted } from '../../domain/wanted.ts'
import type { Compared, Differing } from '../../engine/compare.ts'
import { differingFrom, redone, refuseDiffering } from '../../engine/compare.ts'
import type { RunJournal } from '../../engine/journal.ts'
import type { Guard } from '../../engine/locks.ts'
import type { Standing } from '../../engine/records.ts'
import { dropCopy } from '../../engine/records.ts'
import type { Foreign } from '../../engine/run.ts'
import { stepsToUndo } from '../../engine/undo.ts'
import { runOf } from './carry.ts'
import type { RepairFlags } from './flags.ts'
import { patienceMs, refuseRisks } from './flags.ts'
import { isForeign } from './foreign.ts'
import type { RepairSession } from './session.ts'

/**
 * Compares the record with what the deployment shows, and writes to neither journal. Throws what keeps it from checking
 * a step.
 */
export async function comparedIn(
  session: RepairSession,
  flags: RepairFlags,
  standing: Standing,
  guard: Guard,
): Promise<Compared> {
  const { record, events } = standing.history
  return differingFrom(
    runOf(session, {
      record,
      events,
      journal: readOnly,
      guard,
      patienceMs: patienceMs(flags),
      foreign: foreignOf(standing),
    }),
  )
}

/**
 * Returns events that repeat the steps whose record differs from what the deployment shows. Throws REFUSED unless that
 * is accepted.
 */
export async function redoneIn(
  session: RepairSession,
  flags: RepairFlags,
  standing: Standing,
  guard: Guard,
): Promise<RunEvent[]> {
  const { differing, repeated } = await comparedIn(session, flags, standing, guard)
  refuseUnlessAccepted(standing, differing, flags, 'resume')
  return redoOf(session, standing, [...stepsOf(differing), ...repeated])
}

/** Returns events that undo again steps which the record calls undone. Throws as `redoneIn` does. */
export async function undoneIn(
  session: RepairSession,
  flags: RepairFlags,
  standing: Standing,
  guard: Guard,
): Promise<RunEvent[]> {
  const { differing } = await comparedIn(session, flags, standing, guard)
  // an undo takes neither the direction nor what was moved from others either
  const undone = differing.filter(({ step, isNote, isOfUndo }) => step === null || isNote || isOfUndo)
  refuseUnlessAccepted(standing, undone, flags, 'undo')
  return redoOf(session, standing, stepsOf(undone))
}

function redoOf(session: RepairSession, standing: Standing, steps: readonly number[]): RunEvent[] {
  return redone({ ...standing.history, by: session.by, foreign: foreignOf(standing) }, new Set(steps))
}

function stepsOf(differing: readonly Differing[]): number[] {
  return differing.flatMap(({ step }) => (step === null ? [] : [step]))
}

function foreignOf(standing: Standing): Foreign {
  return { events: standing.foreign, isAdopted: isForeign(standing) }
}

/**
 * Throws REFUSED for differences that are not accepted. The risk `record-differs` accepts those of steps; the direction
 * of a run is never taken from others.
 */
function refuseUnlessAccepted(
  standing: Standing,
  differing: readonly Differing[],
  flags: RepairFlags,
  verb: 'resume' | 'undo',
): void {
  const { run, plan } = standing.history.record
  const isAccepted = (flags['accept-risk'] ?? []).includes('record-differs')
  const left = isAccepted ? differing.filter(({ step }) => step === null) : differing
  const isOfSteps = differing.every(({ step }) => step !== null)
  refuseDiffering(plan, left, [
    command`testops-admin resume ${run} -d {deployment} --dry-run`,
    command`testops-admin undo ${run} -d {deployment} --dry-run`,
    ...byOwnRecord(standing),
    ...(isOfSteps && verb === 'resume'
      ? [
          command`testops-admin resume ${run} -d {deployment} --accept-risk record-differs   # repeats the steps whose
            record differs from the deployment`,
        ]
      : []),
    ...(isOfSteps && verb === 'undo'
      ? [
          command`testops-admin undo ${run} -d {deployment} --accept-risk record-differs   # repeats the undo of
            the steps whose record differs from the deployment`,
        ]
      : []),
  ])
}

function byOwnRecord(standing: Standing): readonly Suggestion[] {
  if (standing.foreign === 0 || isForeign(standing)) return []
  return [dropCopy(standing.history.record.run)]
}

/** A journal for a caller that only reads: appending to it fails. */
export const readOnly: RunJournal = {
  written: [],
  onlyHere: null,
  append: async () =>
    Promise.reject(new Error('cannot write to the saved record of a run: it is open only for reading')),
  keep: async () => null,
  kept: async () => null,
  close: async () => undefined,
}

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
