import type { BearerToken } from '../core/api-login.ts'
import { grouped } from '../core/grouped.ts'

/** What `token --json` prints. */
export interface TokenDocument {
  schemaVersion: 1
  accessToken: string
  /** ISO 8601, by this machine's clock; null if the service does not say */
  expiresAt: string | null
  expiresInSeconds: number | null
}

/** Returns the only document that shows a token: who asks for it wants nothing else. */
export function tokenDocument({ token, expiresAt, expiresInSeconds }: BearerToken): TokenDocument {
  return {
    schemaVersion: 1,
    accessToken: token.reveal(),
    expiresAt: expiresAt?.toISOString() ?? null,
    expiresInSeconds,
  }
}

/** Returns in a sentence how long the token lives. */
export function lifeText({ expiresAt, expiresInSeconds }: Omit<BearerToken, 'token'>): string {
  if (expiresInSeconds === null || expiresAt === null) return 'The service does not say how long this token is valid.'
  if (expiresInSeconds === 0)
    return 'The service says that this token has already expired: it will most likely be refused.'
  return `This token expires in ${grouped(expiresInSeconds)} s, at ${expiresAt.toISOString().replace(/\.\d+Z$/, 'Z')}.`
}
