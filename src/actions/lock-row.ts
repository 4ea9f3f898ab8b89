import { mayNotBeRead, showRow } from '../domain/lock/row.ts'
import type { ActionOf } from '../core/action.ts'
import type { DatabaseControl } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow, DatabaseSource, LockTableName } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { Workshop } from './handler.ts'

/** The table of a change-log lock, with the address of its database. */
export interface LockPlace extends LockTableName {
  database: string
}

/** Returns the database's source. Throws REFUSED if the deployment no longer has that database. */
export async function sourceOf({ database }: LockPlace, { open }: Pick<Workshop, 'open'>): Promise<DatabaseSource> {
  return (await open.database()).find((one) => isAt(one, database)) ?? gone(database)
}

/** Returns the database's control. Throws REFUSED if the deployment no longer has that database. */
export async function controlOf(
  { database }: LockPlace,
  { control }: Pick<Workshop, 'control'>,
): Promise<DatabaseControl> {
  return (await control.database()).find((one) => isAt(one, database)) ?? gone(database)
}

/** True if the deployment still has that database. */
export async function hasDatabase({ database }: LockPlace, { open }: Pick<Workshop, 'open'>): Promise<boolean> {
  return (await open.database()).some((one) => isAt(one, database))
}

/** True if this is that database; another of its hosts may have become the primary since the plan was made. */
function isAt({ target, alsoAt }: Pick<DatabaseSource, 'target' | 'alsoAt'>, database: string): boolean {
  return target === database || alsoAt.includes(database)
}

/** The rows of a lock table; empty if there is no such table. Throws FORBIDDEN if it may not be read. */
export async function rowsOf(place: LockPlace, workshop: Pick<Workshop, 'open'>): Promise<readonly ChangelogLockRow[]> {
  const source = await sourceOf(place, workshop)
  const { schema, table: named = changelogLock.table } = place
  const tables = await source.changelogLocks({ table: named, user: null })
  const table = tables.find((it) => it.schema === schema && (it.table ?? changelogLock.table) === named)
  if (!table) return []
  if (table.rows === null) throw mayNotBeRead(source.target, (await source.identity()).user, table)
  return table.rows
}

/** Returns the row with the id that Liquibase uses; null if there is none. */
export async function rowOf(place: LockPlace, workshop: Pick<Workshop, 'open'>): Promise<ChangelogLockRow | null> {
  return (await rowsOf(place, workshop)).find(({ id }) => id === changelogLock.rowId) ?? null
}

/** True if a transaction of this step was committed, whatever the journal says about it. */
export async function wasOurs(place: LockPlace, workshop: Pick<Workshop, 'control' | 'journal'>): Promise<boolean> {
  const { notes } = workshop.journal
  return notes.length > 0 && (await (await controlOf(place, workshop)).hasCommitted(notes))
}

/** Records the mark of a transaction before it changes anything, so that it can be recognized later. */
export function noting({
  journal,
  failpoint,
}: Pick<Workshop, 'journal' | 'failpoint'>): (mark: string) => Promise<void> {
  return async (mark) => {
    await journal.note(mark)
    await failpoint('noted')
  }
}

export function isFree(row: ChangelogLockRow | null): boolean {
  return row !== null && !row.locked && row.lockGranted === null && row.lockedBy === null
}

export function isAsSeen(row: ChangelogLockRow | null, seen: ActionOf<'release-lock'>['row']): boolean {
  return (
    row !== null && row.locked === seen.locked && row.lockGranted === seen.lockGranted && row.lockedBy === seen.lockedBy
  )
}

export function changedHands(
  { schema, table = changelogLock.table, database, row }: ActionOf<'release-lock'>,
  now: ChangelogLockRow | null,
): AdminError {
  const seen = showRow({ id: changelogLock.rowId, ...row })
  const found = now === null ? 'missing' : showRow(now)
  return new AdminError(
    'REFUSED',
    `the lock in ${schema}.${table} at ${database} has changed since the plan was made: it was ${seen} and is ` +
      `now ${found}`,
    [
      'testops-admin doctor -d {deployment} --only database/changelog-lock',
      'testops-admin unlock-changelog -d {deployment} --dry-run',
    ],
  )
}

function gone(database: string): never {
  throw new AdminError('REFUSED', `${database} is no longer one of the deployment's databases`, [
    'testops-admin doctor -d {deployment} --only database',
  ])
}
