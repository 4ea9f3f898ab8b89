import type { Context } from 'hono'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import { apiUse } from '../../../knowledge/api.ts'
import { webSession } from '../../../knowledge/sessions.ts'
import { authenticate, userNamed, userOfToken } from '../data/users.ts'
import type { Session } from '../sessions/repository.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { springError } from './errors.ts'

/** Reads the session id from the browser's cookie, which Spring writes in base64. Null if there is no cookie. */
function sessionIdOf(c: Context): string | null {
  const value = getCookie(c, webSession.cookie)
  return value ? Buffer.from(value, 'base64').toString('utf8') : null
}

function giveCookies(c: Context, session: Session): void {
  setCookie(c, webSession.cookie, Buffer.from(session.id).toString('base64'), {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
  })
  if (session.csrfToken !== null) setCookie(c, webSession.csrfCookie, session.csrfToken, { path: '/' })
}

function dropCookies(c: Context): void {
  deleteCookie(c, webSession.cookie, { path: '/' })
  deleteCookie(c, webSession.csrfCookie, { path: '/' })
}

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

/** Serves the pages and the sign-in of the web interface (SPEC.md 4.5, 5.6 and 7). */
export function loginRoutes(context: ServiceContext): Hono<RequestState> {
  const { sessions, database } = context
  const app = new Hono<RequestState>()

  const page = async (c: Context): Promise<Response> => {
    const id = sessionIdOf(c)
    const found = id === null ? null : await sessions.find(id)
    // the browser keeps a stale session that is still in the store: it must be flushed (SPEC.md 7)
    if (found === null || found.status === 'absent') giveCookies(c, await sessions.create(null))
    return c.html(
      `<!doctype html><title>testops</title><h1>Sign in</h1><form method="post" action="${webSession.signIn}">` +
        '<input name="username"><input name="password" type="password"><button>Sign in</button></form>',
    )
  }
  app.get('/', page)
  app.get(webSession.loginPage, page)

  app.post(webSession.signIn, async (c) => {
    const id = sessionIdOf(c)
    const found = id === null ? null : await sessions.find(id)
    if (found?.status !== 'valid' || found.session.csrfToken === null)
      return springError(c, context, 401, webSession.csrfMissing)
    if (c.req.header(webSession.csrfHeader) !== found.session.csrfToken)
      return springError(c, context, 403, 'Invalid CSRF Token')
    const { username, password } = await credentials(c)
    const user = await authenticate(database, username, password)
    if (!user) return springError(c, context, 401, 'Bad credentials')
    // a new id at sign-in, against session fixation
    await sessions.remove(found.session)
    giveCookies(c, await sessions.create(user.username))
    return c.json({ id: user.id, username: user.username, authorities: [{ authority: user.authority }] })
  })

  app.post('/api/logout', async (c) => {
    const id = sessionIdOf(c)
    const found = id === null ? null : await sessions.find(id)
    if (found?.status === 'valid') await sessions.remove(found.session)
    dropCookies(c)
    return c.body(null, 204)
  })
  return app
}

async function credentials(c: Context): Promise<{ username: string; password: string }> {
  const isJson = (c.req.header('content-type') ?? '').includes('json')
  const body: unknown = isJson ? await c.req.json().catch(() => null) : await c.req.parseBody()
  const field = (name: string): string => {
    const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : null
    return typeof value === 'string' ? value : ''
  }
  return { username: field('username'), password: field('password') }
}

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
