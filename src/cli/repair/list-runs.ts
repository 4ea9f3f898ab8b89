import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { UnreadableRun } from '../../core/run.ts'
import { isUnfinished, onlyCloses, runState, undoCommand } from '../../core/run-state.ts'
import { nameOf, onRecord } from '../../engine/catch-up.ts'
import type { Journals } from '../../engine/catch-up.ts'
import type { HistoryDocument } from '../../output/history.ts'
import type { RepairFlags } from './flags.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'

/** Every run that is on record: on this machine, and in the deployment what was begun elsewhere and is not finished. */
export async function listRuns(flags: RepairFlags): Promise<HistoryDocument> {
  return withDeployment(flags, runsOf)
}

/** The same of a deployment that is open. */
export async function runsOf({ opened: { deployment, journals } }: Pick<RepairSession, 'opened'>): Promise<HistoryDocument> {
  const { all } = await onRecord(journals)
  const runs = all.flatMap((it) => {
    if (!('record' in it) || (!it.isHere && !isUnfinished(it))) return []
    return [{ ...runState(it), where: it.isHere ? ('here' as const) : ('deployment' as const), ...(it.isGone && { copyGone: true as const }) }]
  })
  return {
    schemaVersion: 1,
    deployment: deployment.name,
    runs: runs.sort((a, b) => (a.run < b.run ? -1 : 1)),
    unreadable: all.flatMap((it) => ('unreadable' in it ? [{ run: it.run, reason: it.unreadable }] : [])),
  }
}

/** Throws REFUSED where another run has not come to its end, or may not have: it may have stopped the service, or hold messages. */
export async function refuseIfUnfinished({ opened: { journals } }: Pick<RepairSession, 'opened'>): Promise<void> {
  const { all } = await onRecord(journals)
  const own = all.find((it) => 'record' in it && it.isHere && isUnfinished(it))
  if (own && 'record' in own) {
    const { run, plan, by } = own.record
    throw new AdminError('REFUSED', `run ${run} (${plan.repair}, by ${by}) has not come to its end`, [
      `testops-admin resume ${run} -d {deployment}`,
      undoCommand({ run, onlyCloses: onlyCloses(plan) }),
    ])
  }
  const other = all.find((it) => !it.isHere && 'record' in it && isUnfinished(it))
  if (other && 'record' in other) {
    const { run, plan, by } = other.record
    throw new AdminError('REFUSED', `run ${run} (${plan.repair}, by ${by}) was begun on another machine and has not come to its end`, [
      'testops-admin history -d {deployment}',
      `testops-admin resume --adopt ${run} -d {deployment}`,
    ])
  }
  const damaged = all.find((it) => 'unreadable' in it)
  if (damaged && 'unreadable' in damaged) throw unknownEnd(damaged, journals)
}

/** Of a run whose journal cannot be read: it may have stopped the service, or hold messages. */
export function unknownEnd(damaged: UnreadableRun & { isHere: boolean }, journals: Journals): AdminError {
  const run = nameOf(damaged)
  return new AdminError('REFUSED', `whether run ${run} has come to its end is not known: ${damaged.unreadable}`, [
    'testops-admin history -d {deployment}',
    `testops-admin resume --adopt ${run} -d {deployment}   # where the deployment keeps a copy of its journal`,
    ...(damaged.isHere ? [`${typed(['mv', `${journals.here.where}/${run}`, `${journals.here.where}/${run}.aside`])}   # once it is seen to be over`] : []),
  ])
}
