import type { LockOwner } from '../../core/lock.ts'
import { databaseEndpoints } from '../endpoints/database.ts'
import { toldByLogin } from '../endpoints/context.ts'
import type { PartContext } from './part.ts'

/** PostgreSQL: each of the service's databases. */
export function databasePart({ through, options: { timeoutMs } }: PartContext) {
  return {
    source: through(async (context) => {
      const endpoints = await databaseEndpoints(context)
      const { openDatabases } = await import('../../adapters/postgres/index.ts')
      return toldByLogin(endpoints[0].login, openDatabases(endpoints, { timeoutMs }))
    }),
    control: through(async (context) => {
      const endpoints = await databaseEndpoints(context)
      const { openDatabaseControls } = await import('../../adapters/postgres/index.ts')
      return openDatabaseControls(endpoints, { timeoutMs })
    }),
    lock: (own: LockOwner) =>
      through(async (context) => {
        const [endpoint] = await databaseEndpoints(context)
        const { openDatabaseLock } = await import('../../adapters/postgres/index.ts')
        return openDatabaseLock(endpoint, own, { timeoutMs })
      }),
  }
}
