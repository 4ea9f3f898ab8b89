import { setTimeout as sleep } from 'node:timers/promises'
import { judgeHolder } from '../domain/lock/holder.ts'
import type { LockHolding } from '../domain/lock/holder.ts'
import { situationOf, surroundings } from '../domain/lock/situation.ts'
import { wanted } from '../domain/wanted.ts'
import type { ActionOf } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow } from '../core/sources.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { changedHands, controlOf, isAsSeen, isFree, noting, rowOf, sourceOf, wasOurs } from './lock-row.ts'

type Release = ActionOf<'release-lock'>

/** The longest wait for a statement that outlives its program */
const settleMs = 30_000
const pollMs = 500

export const releaseLock: ActionHandler<'release-lock'> = {
  failpoints: ['judged', 'noted', 'released'],
  async isDone(action, workshop) {
    const row = await rowOf(action, workshop)
    // after our release, somebody may have taken it again; but if it is as it was seen, it was not released, whatever
    // the transaction says: a standby that became the primary may have lost that
    return isFree(row) || (!isAsSeen(row, action.row) && (await wasOurs(action, workshop)))
  },
  async foresee(action, workshop) {
    const row = await rowOf(action, workshop)
    if (row === null || !isAsSeen(row, action.row)) throw changedHands(action, row)
    const holding = await judged(action, row, workshop)
    if (action.accepts !== 'live-holder' && holding.holder === 'live') throw lives(holding)
  },
  async perform(action, workshop) {
    const row = await rowOf(action, workshop)
    if (row === null || !isAsSeen(row, action.row)) throw changedHands(action, row)
    await untilItsHolderIsGone(action, row, workshop)
    await workshop.failpoint('judged')
    const compared = await (await controlOf(action, workshop)).releaseLock(action, action.row, noting(workshop))
    await workshop.failpoint('released')
    if (compared === 'changed') throw changedHands(action, await rowOf(action, workshop))
  },
  async undo(action, workshop) {
    const { performed, notes } = workshop.journal
    if (!performed && !(await wasOurs(action, workshop))) return
    if (!isFree(await rowOf(action, workshop))) return
    await refuseIfRunning(workshop)
    const compared = await (await controlOf(action, workshop)).restoreLock(
      action,
      action.row,
      performed ? undefined : notes,
    )
    if (compared === 'set') return
    const now = await rowOf(action, workshop)
    if (performed && !isAsSeen(now, action.row)) throw changedHands(action, now)
  },
}

/** Throws REFUSED if the service runs: it may be working under the lock that undo would restore. */
async function refuseIfRunning({ open }: Workshop): Promise<void> {
  const service = await wanted(open.service)
  if (service instanceof AdminError) {
    // this program does not know how to stop it: the operator has done that
    if (service.code === 'NOT_CONFIGURED') return
    throw service
  }
  if ((await service.status()).state !== 'running') return
  throw new AdminError(
    'REFUSED',
    'cannot restore the change-log lock while the service runs, because the service may be using the lock',
    ['{stop}'],
  )
}

async function judged(action: Release, row: ChangelogLockRow, workshop: Workshop): Promise<LockHolding> {
  const { service, logs, api } = workshop.open
  const around = { service: await wanted(service), logs: await wanted(logs), api: await wanted(api) }
  return judgeHolder(
    await situationOf(await sourceOf(action, workshop), row, await surroundings(around, workshop.deployment)),
  )
}

/**
 * Waits until the holder is gone, now that the service is stopped: a statement of a killed program runs until it ends.
 */
async function untilItsHolderIsGone(action: Release, row: ChangelogLockRow, workshop: Workshop): Promise<void> {
  if (action.accepts === 'live-holder') return
  const end = performance.now() + Math.min(settleMs, workshop.patienceMs)
  for (;;) {
    const holding = await judged(action, row, workshop)
    if (holding.holder === 'dead' || (holding.holder === 'unproven' && isAccepted(holding, action))) return
    if (!mayEnd(holding, action.lacks ?? []) || performance.now() > end)
      throw holding.holder === 'live' ? lives(holding) : unproven(holding)
    if (workshop.signal.aborted)
      throw new AdminError('INTERRUPTED', 'interrupted while waiting for the holder of the lock to finish')
    workshop.progress(
      'waiting for the holder of the lock to finish: ' +
        (holding.holder === 'live' ? holding.who : holding.why.join('; ')),
    )
    await sleep(pollMs, undefined, { signal: workshop.signal }).catch(() => undefined)
  }
}

/**
 * True if the operator accepted exactly these doubts. A session that is still open although the service is stopped is a
 * new one.
 */
function isAccepted({ lacks }: Extract<LockHolding, { holder: 'unproven' }>, action: Release): boolean {
  return (
    action.accepts === 'unproven-holder' &&
    (action.lacks === undefined || lacks.every((lack) => action.lacks!.includes(lack)))
  )
}

/** True if waiting may help: sessions end, but what cannot be seen stays unknown. */
function mayEnd(holding: Exclude<LockHolding, { holder: 'dead' }>, accepted: readonly string[]): boolean {
  return holding.holder === 'live'
    ? holding.sessions.length > 0
    : holding.lacks.every((lack) => lack === 'open-session' || accepted.includes(lack))
}

function lives({ who }: Extract<LockHolding, { holder: 'live' }>): AdminError {
  return new AdminError('REFUSED', `the holder of the lock is alive: ${who}`, [
    'wait until the holder has finished',
    'testops-admin unlock-changelog -d {deployment} --dry-run',
  ])
}

function unproven({ why }: Extract<LockHolding, { holder: 'unproven' }>): AdminError {
  return new AdminError('REFUSED', `can no longer tell whether the holder of the lock is alive: ${why.join('; ')}`, [
    'testops-admin unlock-changelog -d {deployment} --dry-run',
  ])
}
