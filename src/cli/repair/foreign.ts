import { misfitsOf } from '../../domain/foreign-run/index.ts'
import { unfitBindings, unfitNotes, unfitPlaces } from '../../domain/foreign-run/notes.ts'
import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Standing } from '../../engine/records.ts'
import { refuseRisks } from './flags.ts'
import type { RepairFlags } from './flags.ts'
import type { RepairSession } from './session.ts'
import { command, sentence } from '../../core/shell-command.ts'

/** True if this machine knows a run from the deployment alone, where others may write. */
export function isForeign({ here }: Standing): boolean {
  return !('history' in here)
}

/**
 * Returns in one sentence why a record does not fit this deployment; null if it fits. Throws what keeps it from being
 * compared.
 */
export async function misfitOf(
  { opened: { deployment, open } }: Pick<RepairSession, 'opened'>,
  history: RunHistory,
): Promise<string | null> {
  const { unfit, untold } = await misfitsOf(history, { deployment, open })
  if (untold) throw untold
  return unfit.length === 0 ? null : unfit.join('; ')
}

/** Throws REFUSED if this repair cannot have left there what the deployment alone says about a run. */
export async function refuseUnlessFits(session: RepairSession, standing: Standing): Promise<void> {
  const { history, foreign } = standing
  if (foreign === 0 && !isForeign(standing)) return
  const { run, plan } = history.record
  if (!isForeign(standing)) {
    const theirs = history.events.slice(-foreign)
    const [alone] = unfitNotes(plan, theirs)
    const [unfit] =
      alone === undefined
        ? [
            ...(await unfitBindings(plan, theirs, session.opened)),
            ...(await unfitPlaces({ record: history.record, events: theirs }, session.opened)),
          ]
        : [alone]
    if (unfit !== undefined) throw unfitRecord(run, unfit, session)
    return
  }
  try {
    const unfit = await misfitOf(session, history)
    if (unfit !== null) throw unfitRecord(run, unfit, session)
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'REFUSED' || error.code === 'INTERRUPTED') throw error
    throw new AdminError(
      'REFUSED',
      `Nothing was changed: the saved record of run ${run} cannot be compared with this deployment. ${error.message}`,
      error.suggestions,
      { cause: error },
    )
  }
}

function unfitRecord(run: string, unfit: string, { by }: RepairSession): AdminError {
  return new AdminError(
    'REFUSED',
    `Nothing was changed: the saved record of run ${run} does not match this deployment: ${unfit}`,
    [
      sentence`ask the other operators of this deployment (you are ${by}) whether they started this run`,
      command`testops-admin discard ${run} -d {deployment}   # shows the record, saves it on this machine, and removes
        it from the deployment`,
    ],
  )
}

/**
 * Throws REFUSED unless the risks of a record that others may have written are accepted: those of its plan, and that of
 * adopting it.
 */
export function refuseForeign({ history: { record } }: Standing, flags: RepairFlags, words: readonly string[]): void {
  const { run, by, plan } = record
  const foreign: Risk = {
    name: 'foreign-run',
    message:
      `run ${run} is recorded only in the deployment, where others may write or change records: read the plan ` +
      'before you adopt the run',
    proof: [
      sentence`ask ${by} whether they started this run`,
      command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`,
    ],
  }
  refuseRisks({ risks: [foreign, ...plan.risks] }, flags['accept-risk'] ?? [], words)
}
