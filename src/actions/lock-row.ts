import { mayNotBeRead, showRow } from '../domain/lock/row.ts'
import type { ActionOf } from '../core/action.ts'
import type { DatabaseControl } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow, DatabaseSource, LockTableName } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { Workshop, ActionHandler } from './handler.ts'

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
async function rowsOf(place: LockPlace, workshop: Pick<Workshop, 'open'>): Promise<readonly ChangelogLockRow[]> {
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

export const insertLockRow: ActionHandler<'insert-lock-row'> = {
  failpoints: ['noted', 'inserted'],
  async isDone(action, workshop) {
    return (await rowOf(action, workshop)) !== null
  },
  async perform(action, workshop) {
    const compared = await (await controlOf(action, workshop)).insertLockRow(action, noting(workshop))
    await workshop.failpoint('inserted')
    if (compared === 'changed') {
      const table = `${action.schema}.${action.table ?? changelogLock.table}`
      throw new AdminError(
        'REFUSED',
        `${table} at ${action.database} got a new row with id ${changelogLock.rowId} after the plan was made`,
        ['testops-admin unlock-changelog -d {deployment} --dry-run'],
      )
    }
  },
  async undo(action, workshop) {
    const { performed, notes } = workshop.journal
    if (!performed && !(await wasOurs(action, workshop))) return
    await (await controlOf(action, workshop)).deleteLockRow(action, performed ? undefined : notes)
  },
}

type Removal = ActionOf<'remove-lock-rows'>

/** Removes rows that Liquibase never reads. The plan has them in full, so that undo can restore them. */
export const removeLockRows: ActionHandler<'remove-lock-rows'> = {
  failpoints: ['noted', 'removed'],
  async isDone(action, workshop) {
    const now = await others(action, workshop)
    return !action.rows.some((seen) => now.some((row) => isSame(row, seen)))
  },
  async perform(action, workshop) {
    await (await controlOf(action, workshop)).removeOtherRows(action, action.rows, noting(workshop))
    await workshop.failpoint('removed')
    // a row that changed since is not the one that was seen and saved
    const changed = (await others(action, workshop)).filter(({ id }) => action.rows.some((seen) => seen.id === id))
    if (changed.length > 0)
      workshop.result(
        `these rows of ${nameOf(action)} have changed since the plan was made and were not removed: ` +
          `${changed.map(showRow).join(', ')}`,
      )
  },
  async undo(action, workshop) {
    if (!workshop.journal.performed && !(await wasOurs(action, workshop))) return
    await (await controlOf(action, workshop)).restoreOtherRows(action, action.rows)
    const taken = (await others(action, workshop)).filter((row) =>
      action.rows.some((seen) => seen.id === row.id && !isSame(row, seen)),
    )
    if (taken.length > 0)
      workshop.result(
        `${nameOf(action)} now has other rows with the ids of the removed rows. Undo does not overwrite these ` +
          `new rows: ${taken.map(showRow).join(', ')}`,
      )
  },
}

async function others(action: Removal, workshop: Pick<Workshop, 'open'>): Promise<readonly ChangelogLockRow[]> {
  return (await rowsOf(action, workshop)).filter(({ id }) => id !== changelogLock.rowId)
}

function isSame(row: ChangelogLockRow, seen: ChangelogLockRow): boolean {
  return (
    row.id === seen.id &&
    row.locked === seen.locked &&
    row.lockGranted === seen.lockGranted &&
    row.lockedBy === seen.lockedBy
  )
}

function nameOf({ schema, table = changelogLock.table, database }: Removal): string {
  return `${schema}.${table} at ${database}`
}
