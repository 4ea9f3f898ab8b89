import type { ApiLogin } from '../../core/api-login.ts'
import type { ApiSession } from './session.ts'

export function apiLogin(session: ApiSession): ApiLogin {
  return {
    target: session.http.peer.where,
    async bearer() {
      const { bearer, lifeSeconds, exchangedAt } = await session.token()
      if (lifeSeconds === null) return { token: bearer, expiresInSeconds: null, expiresAt: null }
      const leftMs = Math.max(0, lifeSeconds * 1000 - (performance.now() - exchangedAt))
      return { token: bearer, expiresInSeconds: Math.floor(leftMs / 1000), expiresAt: new Date(Date.now() + leftMs) }
    },
  }
}
