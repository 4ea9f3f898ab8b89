import { AdminError } from '../../core/error.ts'
import type { RunHistory, UnreadableRun } from '../../core/run.ts'
import { isUnfinished, runState } from '../../core/run-state.ts'
import type { HistoryDocument } from '../../output/history.ts'
import type { RepairFlags } from './flags.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'

/** Every run that is on record: on this machine, and in the deployment what was begun elsewhere and is not finished. */
export async function listRuns(flags: RepairFlags): Promise<HistoryDocument> {
  return withDeployment(flags, async (session) => {
    const here = await session.opened.journals.here.list()
    const elsewhere = await begunElsewhere(session, here)
    return {
      schemaVersion: 1,
      deployment: session.opened.deployment.name,
      runs: [
        ...here.flatMap((it) => ('record' in it ? [{ ...runState(it), where: 'here' as const }] : [])),
        ...elsewhere.flatMap((it) => ('record' in it ? [{ ...runState(it), where: 'deployment' as const }] : [])),
      ].sort((a, b) => (a.run < b.run ? -1 : 1)),
      unreadable: [...here, ...elsewhere].flatMap((it) => ('unreadable' in it ? [{ run: it.run, reason: it.unreadable }] : [])),
    }
  })
}

/** Throws REFUSED where another run has not come to its end: it may have stopped the service, or hold messages. */
export async function refuseIfUnfinished(session: RepairSession): Promise<void> {
  const here = await session.opened.journals.here.list()
  const own = here.flatMap((it) => ('record' in it && isUnfinished(it) ? [it.record] : []))[0]
  if (own) {
    throw new AdminError('REFUSED', `run ${own.run} (${own.plan.repair}, by ${own.by}) has not come to its end`, [
      `testops-admin resume ${own.run} -d {deployment}`,
      `testops-admin undo ${own.run} -d {deployment}`,
    ])
  }
  const other = (await begunElsewhere(session, here))[0]
  if (!other) return
  const who = 'record' in other ? ` (${other.record.plan.repair}, by ${other.record.by})` : ''
  throw new AdminError('REFUSED', `run ${nameOf(other)}${who} was begun on another machine and has not come to its end`, [
    'testops-admin history -d {deployment}',
    `testops-admin resume --adopt ${nameOf(other)} -d {deployment}`,
  ])
}

/** Runs that only the deployment has a journal of; none where it cannot be asked. */
async function begunElsewhere(
  { opened }: RepairSession,
  here: readonly (RunHistory | UnreadableRun)[],
): Promise<readonly (RunHistory | UnreadableRun)[]> {
  const known = new Set(here.map(nameOf))
  try {
    const there = await (await opened.journals.there()).list()
    return there.filter((it) => !known.has(nameOf(it)))
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
  }
}

function nameOf(it: RunHistory | UnreadableRun): string {
  return 'record' in it ? it.record.run : it.run
}
