import { once } from '../../core/answers.ts'
import type { LockOwner } from '../../core/lock.ts'
import { toldByLogin } from '../endpoints/context.ts'
import { databaseEndpoints } from '../endpoints/database.ts'
import { sessionsEndpoint } from '../endpoints/sessions.ts'
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

/** Redis: the store of sessions. */
export function sessionsPart({ through, options: { timeoutMs } }: PartContext) {
  const counted = once(async () => (await import('../../adapters/redis/index.ts')).lastCount())
  return {
    source: through(async (context) => {
      const endpoint = await sessionsEndpoint(context)
      const { openSessions } = await import('../../adapters/redis/index.ts')
      return toldByLogin(endpoint.login, openSessions(endpoint, { timeoutMs, last: await counted() }))
    }),
    control: through(async (context) => {
      const endpoint = await sessionsEndpoint(context)
      const { openSessionsControl } = await import('../../adapters/redis/index.ts')
      return toldByLogin(endpoint.login, openSessionsControl(endpoint, { timeoutMs, last: await counted() }))
    }),
  }
}
