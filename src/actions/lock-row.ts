import { showRow } from '../checks/support/lock-row.ts'
import type { ActionOf } from '../core/action.ts'
import type { DatabaseControl } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow, DatabaseSource } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { Workshop } from './handler.ts'

/** Where a change-log lock lies: of a database by its address. */
export interface LockPlace {
  database: string
  schema: string
}

/** Throws REFUSED where the deployment has that database no longer. */
export async function sourceOf({ database }: LockPlace, { open }: Pick<Workshop, 'open'>): Promise<DatabaseSource> {
  return (await open.database()).find(({ target }) => target === database) ?? gone(database)
}

/** Throws REFUSED where the deployment has that database no longer. */
export async function controlOf({ database }: LockPlace, { control }: Pick<Workshop, 'control'>): Promise<DatabaseControl> {
  return (await control.database()).find(({ target }) => target === database) ?? gone(database)
}

/** The row that counts; null: there is none. */
export async function rowOf(place: LockPlace, workshop: Pick<Workshop, 'open'>): Promise<ChangelogLockRow | null> {
  const tables = await (await sourceOf(place, workshop)).changelogLocks()
  return tables.find(({ schema }) => schema === place.schema)?.rows?.find(({ id }) => id === changelogLock.rowId) ?? null
}

export function isFree(row: ChangelogLockRow | null): boolean {
  return row !== null && !row.locked && row.lockGranted === null && row.lockedBy === null
}

export function isAsSeen(row: ChangelogLockRow | null, seen: ActionOf<'release-lock'>['row']): boolean {
  return row !== null && row.locked === seen.locked && row.lockGranted === seen.lockGranted && row.lockedBy === seen.lockedBy
}

export function changedHands({ schema, database, row }: ActionOf<'release-lock'>, now: ChangelogLockRow | null): AdminError {
  const seen = showRow({ id: changelogLock.rowId, ...row })
  const found = now === null ? 'there is no such row' : showRow(now)
  return new AdminError('REFUSED', `the lock in ${schema}.${changelogLock.table} at ${database} has changed hands: seen ${seen}, now ${found}`, [
    'testops-admin doctor -d {deployment} --only database/changelog-lock',
    'testops-admin unlock-changelog -d {deployment} --dry-run',
  ])
}

function gone(database: string): never {
  throw new AdminError('REFUSED', `${database} is none of the deployment's databases any more`, ['testops-admin doctor -d {deployment} --only database'])
}
