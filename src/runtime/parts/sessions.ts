import { once } from '../../core/answers.ts'
import { toldByLogin } from '../endpoints/context.ts'
import { sessionsEndpoint } from '../endpoints/sessions.ts'
import type { PartContext } from './part.ts'

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
