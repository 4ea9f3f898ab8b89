import type { RunEvent } from '../../core/run.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { dropCopy } from '../../engine/records.ts'
import type { Standing } from '../../engine/records.ts'
import type { Guard } from '../../engine/locks.ts'
import type { RunJournal } from '../../engine/journal.ts'
import { differingFrom, redone, refuseDiffering } from '../../engine/compare.ts'
import type { Compared, Differing } from '../../engine/compare.ts'
import type { Foreign } from '../../engine/run.ts'
import { runOf } from './carry.ts'
import { patienceMs } from './flags.ts'
import type { RepairFlags } from './flags.ts'
import { isForeign } from './foreign.ts'
import type { RepairSession } from './session.ts'

/**
 * What the deployment shows of the record. Nothing is written to either journal. Throws what keeps a step from being
 * asked about.
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
 * Steps that are performed again, since the deployment does not show what the record says of them. Throws REFUSED
 * unless that is accepted.
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

/** Steps that are taken back although the record says that they were. Throws as `redoneIn`. */
export async function undoneIn(
  session: RepairSession,
  flags: RepairFlags,
  standing: Standing,
  guard: Guard,
): Promise<RunEvent[]> {
  const { differing } = await comparedIn(session, flags, standing, guard)
  // which way it goes, and what was moved, is no more taken from others here
  const undone = differing.filter(({ step, recorded, isNote }) => step === null || isNote || recorded === 'undone')
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
 * The risk `record-differs` accepts what is said of steps; which way a run goes is never taken from others. Throws
 * REFUSED.
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
      ? [command`testops-admin resume ${run} -d {deployment} --accept-risk record-differs   # repeats those steps`]
      : []),
    ...(isOfSteps && verb === 'undo'
      ? [command`testops-admin undo ${run} -d {deployment} --accept-risk record-differs   # undoes those steps again`]
      : []),
  ])
}

function byOwnRecord(standing: Standing): readonly Suggestion[] {
  if (standing.foreign === 0 || isForeign(standing)) return []
  return [dropCopy(standing.history.record.run)]
}

/** For who only asks. */
export const readOnly: RunJournal = {
  written: [],
  onlyHere: null,
  append: async () => Promise.reject(new Error('a journal that is only read was written to')),
  keep: async () => null,
  kept: async () => null,
  close: async () => undefined,
}
