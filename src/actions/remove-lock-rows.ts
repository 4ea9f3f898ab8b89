import { showRow } from '../domain/lock/row.ts'
import type { ActionOf } from '../core/action.ts'
import type { ChangelogLockRow } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { controlOf, noting, rowsOf, wasOurs } from './lock-row.ts'

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
