import { showRow } from '../checks/support/lock-row.ts'
import type { ActionOf } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { ChangelogLockRow } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { controlOf, noting, rowsOf, wasOurs } from './lock-row.ts'

type Removal = ActionOf<'remove-lock-rows'>

/** Rows that Liquibase never looks at. They stand in the plan whole, so that they can be put back. */
export const removeLockRows: ActionHandler<'remove-lock-rows'> = {
  failpoints: ['noted', 'removed'],
  async isDone(action, workshop) {
    return (await others(action, workshop)).length === 0
  },
  async perform(action, workshop) {
    const compared = await (await controlOf(action, workshop)).removeOtherRows(action.schema, action.rows, noting(workshop))
    await workshop.failpoint('removed')
    if (compared === 'changed') throw changed(action, await others(action, workshop))
  },
  async undo(action, workshop) {
    if (!workshop.journal.performed && !(await wasOurs(action, workshop))) return
    // ids that are in use again stay as they are
    await (await controlOf(action, workshop)).restoreOtherRows(action.schema, action.rows)
  },
}

async function others(action: Removal, workshop: Pick<Workshop, 'open'>): Promise<readonly ChangelogLockRow[]> {
  return (await rowsOf(action, workshop)).filter(({ id }) => id !== changelogLock.rowId)
}

function changed({ schema, database, rows }: Removal, now: readonly ChangelogLockRow[]): AdminError {
  const shown = (all: readonly ChangelogLockRow[]): string => all.map(showRow).join(', ') || 'none'
  return new AdminError(
    'REFUSED',
    `the other rows of ${schema}.${changelogLock.table} at ${database} have changed: seen ${shown(rows)}, now ${shown(now)}`,
    ['testops-admin unlock-changelog -d {deployment} --dry-run'],
  )
}
