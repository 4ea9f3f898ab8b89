import { Hono } from 'hono'
import { userOfToken } from '../data/users.ts'
import { authenticated } from './authentication.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { springError } from './errors.ts'

/** Serves the token exchange and the current user (SPEC.md 4.1 and 4.2). */
export function uaaRoutes(context: ServiceContext): Hono<RequestState> {
  const app = new Hono<RequestState>()
  app.post('/api/uaa/oauth/token', async (c) => {
    // accepts multipart and urlencoded bodies (FIELD-NOTES.md 7)
    const { grant_type: grant, scope, token } = await c.req.parseBody().catch((): Record<string, never> => ({}))
    if (grant !== 'apitoken')
      return c.json(
        {
          error: 'unsupported_grant_type',
          error_description: `Unsupported grant type: ${typeof grant === 'string' ? grant : ''}`,
        },
        400,
      )
    if (scope !== 'openid')
      return c.json(
        { error: 'invalid_scope', error_description: `Invalid scope: ${typeof scope === 'string' ? scope : ''}` },
        400,
      )
    const user = typeof token === 'string' ? await userOfToken(context.database, token) : null
    if (!user) return springError(c, context, 401, 'Bad credentials')
    c.header('Cache-Control', 'no-store')
    return c.json(await context.tokens.issue(user))
  })
  app.get('/api/uaa/me', authenticated(context), (c) => {
    const { id, username, authority } = c.get('user')
    return c.json({ id, username, enabled: true, authorities: [{ authority }] })
  })
  return app
}
