import type { ApiControl, ApiLogin } from '../../core/api-control.ts'
import type { ApiEndpoint, Opened } from '../../core/endpoint.ts'
import type { ApiSource } from '../../core/sources.ts'
import { apiControl } from './control.ts'
import { openSession } from './session.ts'
import { apiSource } from './source.ts'
import { tokenKeeper } from './token.ts'
import type { TokenKeeper } from './token.ts'
import type { ApiSession } from './session.ts'

export { tokenKeeper }

interface OpenOptions {
  /** Milliseconds to wait for each answer */
  timeoutMs: number
  /** Shared by all connections to one deployment, so that one exchange serves all */
  tokens?: TokenKeeper
}

/**
 * Opens the service's HTTP API for reading (SPEC.md 4, FIELD-NOTES.md 7) and verifies that it answers. Throws
 * UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER, CONFIGURATION.
 */
export async function openApi(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiSource>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  return { source: apiSource(session), close: async () => session.http.close() }
}

/** Opens access to the Bearer token for API calls. Throws as `openApi` does. */
export async function openApiLogin(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiLogin>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  return { source: apiLogin(session), close: async () => session.http.close() }
}

/** Opens the service's HTTP API for changes. Throws as `openApi` does. */
export async function openApiControl(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiControl>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  const closing = new AbortController()
  return {
    source: apiControl(session, closing.signal),
    async close() {
      closing.abort()
      await session.http.close()
    },
  }
}

function apiLogin(session: ApiSession): ApiLogin {
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
