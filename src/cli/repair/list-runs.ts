import { AdminError } from '../../core/error.ts'
import type { RunHistory, UnreadableRun, Journals } from '../../core/run.ts'
import { isUnfinished, onlyCloses, runState, undoCommand } from '../../core/run-state.ts'
import { dropCopy, nameOf, onRecord } from '../../engine/records.ts'
import type { OnRecord } from '../../engine/records.ts'
import { leftStanding, overIn } from '../../domain/foreign-run/standing.ts'
import type { HistoryDocument } from '../../output/history.ts'
import type { RepairFlags } from './flags.ts'
import { misfitOf } from './foreign.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'
import { command } from '../../core/shell-command.ts'

/** Lists every recorded run: those of this machine, and the unfinished ones from other machines in the deployment. */
export async function listRuns(flags: RepairFlags): Promise<HistoryDocument> {
  return withDeployment(flags, runsOf)
}

/** Like `listRuns`, on an open deployment. */
export async function runsOf(session: Pick<RepairSession, 'opened'>): Promise<HistoryDocument> {
  const { deployment, journals } = session.opened
  const all = await withoutOver(session, (await onRecord(journals)).all)
  const misfits = await misfitsIn(session, all)
  const runs = all.flatMap((it) => {
    if (!('record' in it)) return []
    return [
      {
        ...runState(it),
        ...(it.isHere ? { where: 'here' as const } : { where: 'deployment' as const, state: 'unfinished' as const }),
        ...(it.isGone && { copyGone: true as const }),
        ...(misfits.has(it.record.run) && { misfit: misfits.get(it.record.run)! }),
      },
    ]
  })
  return {
    schemaVersion: 1,
    deployment: deployment.name,
    runs: runs.sort((a, b) => (a.run < b.run ? -1 : 1)),
    unreadable: [
      ...all.flatMap((it) => ('unreadable' in it ? [it] : [])),
      ...((await journals.here.strangers?.()) ?? []),
    ].map(({ run, unreadable }) => ({ run, reason: unreadable })),
  }
}

/** Returns all runs except finished ones from other machines. */
export async function withoutOver(
  session: Pick<RepairSession, 'opened'>,
  all: OnRecord['all'],
): Promise<OnRecord['all']> {
  const left: OnRecord['all'][number][] = []
  const isOver = overIn(session.opened)
  for (const it of all) if (it.isHere || !('record' in it) || !(await isOver(it))) left.push(it)
  return left
}

/** Returns by run why an unfinished record of another machine fits no repair of this deployment. */
async function misfitsIn(
  session: Pick<RepairSession, 'opened'>,
  all: OnRecord['all'],
): Promise<ReadonlyMap<string, string>> {
  const misfits = new Map<string, string>()
  for (const it of all) {
    if (!('record' in it) || it.isHere) continue
    const misfit = await misfitOf(session, it).catch((error: unknown) => {
      if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
      throw error
    })
    if (misfit !== null) misfits.set(it.record.run, misfit)
  }
  return misfits
}

/** Throws REFUSED if another run is unfinished, or may be: it may have stopped the service, or hold messages. */
export async function refuseIfUnfinished(session: Pick<RepairSession, 'opened'>): Promise<void> {
  const { journals } = session.opened
  const { all } = await onRecord(journals)
  const own = all.find((it) => 'record' in it && it.isHere && isUnfinished(it))
  if (own && 'record' in own) {
    const { run, plan, by } = own.record
    throw new AdminError('REFUSED', `run ${run} (${plan.repair}, by ${by}) is unfinished`, [
      command`testops-admin resume ${run} -d {deployment}`,
      undoCommand({ run, onlyCloses: onlyCloses(plan) }),
    ])
  }
  const damaged = all.find((it) => 'unreadable' in it && it.isHere)
  if (damaged && 'unreadable' in damaged) throw unknownEnd(damaged, journals)
  const others = (await withoutOver(session, all)).filter(({ isHere }) => !isHere)
  if (others.length > 0) await refuseIfStanding(session, others)
}

/**
 * Throws REFUSED if a record of another machine shows an unfinished repair. One that fits no repair was written by
 * somebody else, and is in the way only while something of a repair is in place.
 */
async function refuseIfStanding(
  session: Pick<RepairSession, 'opened'>,
  others: readonly (RunHistory | UnreadableRun)[],
): Promise<void> {
  const strange: { run: string; how: string }[] = []
  for (const it of others) {
    if (!('record' in it)) strange.push({ run: it.run, how: 'cannot be read' })
    else if (await mayBeGenuine(session, it)) {
      const { run, plan, by } = it.record
      const state = isUnfinished(it)
        ? 'is unfinished'
        : `ended, but ${(await leftStanding(session.opened))[0] ?? 'some of it may still be in place'}`
      throw new AdminError('REFUSED', `run ${run} (${plan.repair}, by ${by}) from another machine ${state}`, [
        'testops-admin history -d {deployment}',
        command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`,
      ])
    } else strange.push({ run: it.record.run, how: 'does not belong to any repair of this deployment' })
  }
  const [left] = await leftStanding(session.opened)
  if (left === undefined) return
  const { run, how } = strange[0]!
  throw new AdminError(
    'REFUSED',
    `Nothing changed: ${left}, and the saved record of run \`${run}\` in the deployment ${how}`,
    [
      'testops-admin history -d {deployment}',
      command`testops-admin discard ${run} -d {deployment}   # shows the record, saves it on this machine, and
        removes it from the deployment`,
    ],
  )
}

/** True if the record fits this deployment, or cannot be compared and so may be genuine. */
async function mayBeGenuine(session: Pick<RepairSession, 'opened'>, history: RunHistory): Promise<boolean> {
  try {
    return (await misfitOf(session, history)) === null
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return true
    throw error
  }
}

/** Returns the error for a run whose journal cannot be read: it may have stopped the service, or hold messages. */
export function unknownEnd(
  damaged: UnreadableRun & { isHere: boolean; isSpoiled?: true },
  journals: Journals,
): AdminError {
  const run = nameOf(damaged)
  return new AdminError('REFUSED', `cannot tell whether run ${run} is finished: ${damaged.unreadable}`, [
    'testops-admin history -d {deployment}',
    ...(damaged.isSpoiled
      ? [dropCopy(run)]
      : [
          command`testops-admin resume --adopt ${run} -d {deployment} --dry-run   # if the deployment has a copy of the
            saved record of this run`,
        ]),
    ...(damaged.isHere && !damaged.isSpoiled
      ? [
          command`${'mv'} ${`${journals.here.where}/${run}`} ${`${journals.here.where}/${run}.aside`}   # sets the
            record aside; only once you are sure that the run is over`,
        ]
      : []),
  ])
}
