import { createMiddleware } from 'hono/factory'
import { apiUse } from '../../../knowledge/api-use.ts'
import { webSession } from '../../../knowledge/web-session.ts'
import { userNamed, userOfToken } from '../data/users.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { sessionIdOf } from './cookies.ts'
import { springError } from './errors.ts'

const tokenItself = new RegExp(String.raw`^${apiUse.apiToken}\s+(\S+)$`, 'i')

/**
 * Accepts a Bearer token (SPEC.md 5); the API token itself, which is looked up each time (SPEC.md 5.4, FIELD-NOTES.md
 * 7); or a browser's session, which needs its CSRF token for changes.
 */
export const authenticated = (context: ServiceContext) =>
  createMiddleware<RequestState>(async (c, next) => {
    const refuse = (message: string): Response => springError(c, context, 401, message)
    const bearer = /^Bearer\s+(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    const apiToken = tokenItself.exec(c.req.header('authorization') ?? '')?.[1]
    let username: string | null
    if (apiToken !== undefined) username = (await userOfToken(context.database, apiToken))?.username ?? null
    else if (bearer !== undefined) {
      const judged = await context.tokens.judge(bearer)
      if (judged.status !== 'valid') {
        const reason = judged.status === 'expired' ? 'Access token expired' : 'Invalid access token'
        c.header('WWW-Authenticate', `Bearer error="invalid_token", error_description="${reason}"`)
        return refuse(reason)
      }
      username = judged.username
    } else {
      const id = sessionIdOf(c)
      if (id === null) return refuse('Full authentication is required to access this resource')
      const found = await context.sessions.find(id)
      const changes = c.req.method !== 'GET' && c.req.method !== 'HEAD'
      if (found.status !== 'valid')
        return refuse(changes ? webSession.csrfMissing : 'Full authentication is required to access this resource')
      if (changes && c.req.header(webSession.csrfHeader) !== found.session.csrfToken)
        return springError(c, context, 403, 'Invalid CSRF Token')
      await context.sessions.touch(found.session)
      username = found.session.username
    }
    const user = username === null ? null : await userNamed(context.database, username)
    if (!user) return refuse('Full authentication is required to access this resource')
    c.set('user', user)
    return next()
  })
