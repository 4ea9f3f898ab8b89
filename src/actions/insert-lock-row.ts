import { AdminError } from '../core/error.ts'
import type { DatabaseControl } from '../core/controls.ts'
import { changelogLock } from '../knowledge/lock.ts'
import type { ActionHandler, Workshop } from './handler.ts'

export const insertLockRow: ActionHandler<'insert-lock-row'> = {
  failpoints: ['inserted'],
  async isDone({ database, schema }, { open }) {
    const source = (await open.database()).find(({ target }) => target === database)
    const table = (await source?.changelogLocks())?.find((it) => it.schema === schema)
    return table?.rows?.some(({ id }) => id === changelogLock.rowId) ?? false
  },
  async perform({ database, schema }, workshop) {
    const compared = await (await controlOf(database, workshop)).insertLockRow(schema)
    await workshop.failpoint('inserted')
    if (compared === 'changed') {
      const table = `${schema}.${changelogLock.table}`
      throw new AdminError('REFUSED', `${table} at ${database} has got a row with id ${changelogLock.rowId} since it was looked at`)
    }
  },
  async undo({ database, schema }, workshop) {
    await (await controlOf(database, workshop)).deleteLockRow(schema)
  },
}

/** The database of that address. Throws REFUSED where the deployment has it no longer. */
export async function controlOf(database: string, { control }: Workshop): Promise<DatabaseControl> {
  const found = (await control.database()).find(({ target }) => target === database)
  if (found) return found
  throw new AdminError('REFUSED', `${database} is none of the deployment's databases any more`)
}
