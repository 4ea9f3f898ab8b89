import { AdminError } from '../core/error.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { ActionHandler } from './handler.ts'
import { controlOf, noting, rowOf, wasOurs } from './lock-row.ts'

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
