import { AdminError } from '../../core/error.ts'
import type { ApiSource } from '../../core/sources.ts'
import { isRecord, jsonOf } from '../http.ts'
import { exchangePath } from './token.ts'
import { healthPath, userPath } from './session.ts'
import type { ApiSession } from './session.ts'

/** Whether the service answers, by what is documented of it besides its health (SPEC.md 4.1, 4.2). Throws EXHAUSTED. */
export async function recognized(session: ApiSession): ReturnType<ApiSource['recognized']> {
  try {
    await session.token()
    return { isService: true, shown: `POST ${exchangePath} exchanges the API token` }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'EXHAUSTED') throw error
    const isOpen = error.code === 'UNAUTHENTICATED' || error.code === 'NOT_CONFIGURED'
    const wants = isOpen && (await wantsToken(session))
    return wants
      ? { isService: true, shown: `GET ${userPath} wants a Bearer token` }
      : { isService: false, shown: error.message }
  }
}

/** Asked without one. What answers everything so is a proxy that guards all of it. */
async function wantsToken({ http }: ApiSession): Promise<boolean> {
  const [user, health] = [await http.request(userPath), await http.request(healthPath)]
  const isApi = isRecord(jsonOf(user)) || /^bearer\b/i.test(user.headers['www-authenticate'] ?? '')
  return user.status === 401 && isApi && health.status !== 401
}
