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

/** how long a statement that outlives its program is waited for, at most */
const settleMs = 30_000
const pollMs = 500

export const releaseLock: ActionHandler<'release-lock'> = {
  failpoints: ['judged', 'noted', 'released'],
  async isDone(action, workshop) {
    const row = await rowOf(action, workshop)
    // freed by us, somebody may have taken it since; as it was seen, it is not free, whatever is told of a transaction:
    // a standby that became the primary may have lost it
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

/** A service that runs may be at work under the lock that is to be put back. Throws REFUSED. */
async function refuseIfRunning({ open }: Workshop): Promise<void> {
  const service = await wanted(open.service)
  if (service instanceof AdminError) {
    // nothing is known of how it is stopped: the operator has seen to it
    if (service.code === 'NOT_CONFIGURED') return
    throw service
  }
  if ((await service.status()).state !== 'running') return
  throw new AdminError('REFUSED', 'cannot restore the lock while the service runs: it may be working under that lock', [
    '{stop}',
  ])
}

async function judged(action: Release, row: ChangelogLockRow, workshop: Workshop): Promise<LockHolding> {
  const { service, logs, api } = workshop.open
  const around = { service: await wanted(service), logs: await wanted(logs), api: await wanted(api) }
  return judgeHolder(
    await situationOf(await sourceOf(action, workshop), row, await surroundings(around, workshop.deployment)),
  )
}

/** Judges again, now that the service is stopped: a statement of a program that was killed goes on until it ends. */
async function untilItsHolderIsGone(action: Release, row: ChangelogLockRow, workshop: Workshop): Promise<void> {
  if (action.accepts === 'live-holder') return
  const end = performance.now() + Math.min(settleMs, workshop.patienceMs)
  for (;;) {
    const holding = await judged(action, row, workshop)
    if (holding.holder === 'dead' || (holding.holder === 'unproven' && isAccepted(holding, action))) return
    if (!mayEnd(holding, action.lacks ?? []) || performance.now() > end)
      throw holding.holder === 'live' ? lives(holding) : unproven(holding)
    if (workshop.signal.aborted)
      throw new AdminError('INTERRUPTED', 'interrupted while waiting for the holder of the lock to end')
    workshop.progress(
      `waiting until the holder of the lock has ended: ${holding.holder === 'live' ? holding.who : holding.why.join('; ')}`,
    )
    await sleep(pollMs, undefined, { signal: workshop.signal }).catch(() => undefined)
  }
}

/** What was accepted is what was shown: a session that is there although the service is stopped is another matter. */
function isAccepted({ lacks }: Extract<LockHolding, { holder: 'unproven' }>, action: Release): boolean {
  return (
    action.accepts === 'unproven-holder' &&
    (action.lacks === undefined || lacks.every((lack) => action.lacks!.includes(lack)))
  )
}

/** Whether time may settle it: sessions end, what cannot be seen stays so. */
function mayEnd(holding: Exclude<LockHolding, { holder: 'dead' }>, accepted: readonly string[]): boolean {
  return holding.holder === 'live'
    ? holding.sessions.length > 0
    : holding.lacks.every((lack) => lack === 'open-session' || accepted.includes(lack))
}

function lives({ who }: Extract<LockHolding, { holder: 'live' }>): AdminError {
  return new AdminError('REFUSED', `the holder of the lock is alive: ${who}`, [
    'wait until it has ended',
    'testops-admin unlock-changelog -d {deployment} --dry-run',
  ])
}

function unproven({ why }: Extract<LockHolding, { holder: 'unproven' }>): AdminError {
  return new AdminError('REFUSED', `can no longer tell whether the holder of the lock is alive: ${why.join('; ')}`, [
    'testops-admin unlock-changelog -d {deployment} --dry-run',
  ])
}
