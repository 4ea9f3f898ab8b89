import { randomUUID } from 'node:crypto'
import { sign, verify } from 'hono/jwt'
import type { Secret } from '../../../core/secret.ts'
import type { Clock } from '../machine.ts'
import type { User } from '../data/users.ts'

const algorithm = 'HS256'

interface AccessTokenAnswer {
  access_token: string
  token_type: 'bearer'
  expires_in: number
  scope: 'openid'
  jti: string
}

type JudgedToken = { status: 'valid'; username: string } | { status: 'expired' } | { status: 'invalid' }

export interface Tokens {
  issue(user: User): Promise<AccessTokenAnswer>
  judge(token: string): Promise<JudgedToken>
}

/** Issues and checks signed JWTs with the configured lifetime (SPEC.md 5), by the service's clock. */
export function createTokens(secret: Secret, lifeSeconds: number, clock: Clock): Tokens {
  const now = (): number => Math.floor(clock.now() / 1000)
  return {
    issue: async (user) => {
      const issuedAt = now()
      const jti = randomUUID()
      const claims = {
        sub: user.username,
        user_name: user.username,
        uid: user.id,
        authorities: [user.authority],
        scope: ['openid'],
        iat: issuedAt,
        exp: issuedAt + lifeSeconds,
        jti,
      }
      return {
        access_token: await sign(claims, secret.reveal(), algorithm),
        token_type: 'bearer',
        expires_in: lifeSeconds,
        scope: 'openid',
        jti,
      }
    },
    judge: async (token) => {
      try {
        const { sub, exp } = await verify(token, secret.reveal(), {
          alg: algorithm,
          exp: false,
          iat: false,
          nbf: false,
        })
        if (typeof sub !== 'string' || typeof exp !== 'number') return { status: 'invalid' }
        return exp <= now() ? { status: 'expired' } : { status: 'valid', username: sub }
      } catch {
        return { status: 'invalid' }
      }
    },
  }
}
