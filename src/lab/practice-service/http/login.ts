import { Hono } from 'hono'
import type { Context } from 'hono'
import { webSession } from '../../../knowledge/web-session.ts'
import { authenticate } from '../data/users.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { dropCookies, giveCookies, sessionIdOf } from './cookies.ts'
import { springError } from './errors.ts'

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
