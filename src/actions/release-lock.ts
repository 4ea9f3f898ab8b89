import { setTimeout as sleep } from 'node:timers/promises'
import { judgeHolder } from '../checks/support/lock-holder.ts'
import { showRow } from '../checks/support/lock-row.ts'
import { situationOf, surroundings } from '../checks/support/lock-situation.ts'
import { tolerant, wanted } from '../checks/support/wanted.ts'
import type { ActionOf } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow, DatabaseSource } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { controlOf } from './insert-lock-row.ts'

type Release = ActionOf<'release-lock'>

/** how long a statement that outlives its program is waited for, at most */
const settleMs = 30_000
const pollMs = 500

export const releaseLock: ActionHandler<'release-lock'> = {
  failpoints: ['judged', 'released'],
  async isDone(action, workshop) {
    const row = await rowOf(action, workshop)
    return row !== null && !row.locked && row.lockGranted === null && row.lockedBy === null
  },
  async perform(action, workshop) {
    const row = await rowOf(action, workshop)
    if (row === null || !isAsSeen(row, action.row)) throw changedHands(action, row)
    await untilItsHolderIsGone(action, row, workshop)
    await workshop.failpoint('judged')
    const compared = await (await controlOf(action.database, workshop)).releaseLock(action.schema, action.row)
    await workshop.failpoint('released')
    if (compared === 'changed') throw changedHands(action, await rowOf(action, workshop))
  },
  async undo(action, workshop) {
    if (!(await releaseLock.isDone(action, workshop))) return
    const status = await tolerant(workshop.open.service().then(async (service) => service.status()))
    if (status?.state === 'running') {
      throw new AdminError('REFUSED', 'the lock is put back only while the service is stopped: it may be at work under it', ['{stop}'])
    }
    const compared = await (await controlOf(action.database, workshop)).restoreLock(action.schema, action.row)
    if (compared === 'changed') throw changedHands(action, await rowOf(action, workshop))
  },
}

async function sourceOf({ database }: Release, { open }: Workshop): Promise<DatabaseSource> {
  const found = (await open.database()).find(({ target }) => target === database)
  if (found) return found
  throw new AdminError('REFUSED', `${database} is none of the deployment's databases any more`)
}

async function rowOf(action: Release, workshop: Workshop): Promise<ChangelogLockRow | null> {
  const tables = await (await sourceOf(action, workshop)).changelogLocks()
  return tables.find(({ schema }) => schema === action.schema)?.rows?.find(({ id }) => id === changelogLock.rowId) ?? null
}

function isAsSeen(row: ChangelogLockRow, seen: Release['row']): boolean {
  return row.locked === seen.locked && row.lockGranted === seen.lockGranted && row.lockedBy === seen.lockedBy
}

/** Judges again, now that the service is stopped: a statement of a program that was killed goes on until it ends. */
async function untilItsHolderIsGone(action: Release, row: ChangelogLockRow, workshop: Workshop): Promise<void> {
  if (action.accepts === 'live-holder') return
  const database = await sourceOf(action, workshop)
  const { service, logs, api } = workshop.open
  const around = await surroundings(
    { service: await wanted(service), logs: await wanted(logs), api: await wanted(api) },
    workshop.deployment,
  )
  const end = performance.now() + Math.min(settleMs, workshop.patienceMs)
  for (;;) {
    const holding = judgeHolder(await situationOf(database, row, around))
    if (holding.holder !== 'live') return
    if (performance.now() > end) {
      throw new AdminError('REFUSED', `the holder of the lock lives: ${holding.who}`, [
        'wait until it has ended',
        '--accept-risk live-holder',
      ])
    }
    if (workshop.signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the holder of the lock to end')
    workshop.progress(`waiting until the holder of the lock has ended: ${holding.who}`)
    await sleep(pollMs, undefined, { signal: workshop.signal }).catch(() => undefined)
  }
}

function changedHands({ schema, database, row }: Release, now: ChangelogLockRow | null): AdminError {
  const seen = showRow({ id: changelogLock.rowId, ...row })
  const found = now === null ? 'there is no such row' : showRow(now)
  return new AdminError('REFUSED', `the lock in ${schema}.${changelogLock.table} at ${database} has changed hands: seen ${seen}, now ${found}`)
}
