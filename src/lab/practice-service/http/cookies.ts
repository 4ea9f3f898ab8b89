import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { webSession } from '../../../knowledge/web-session.ts'
import type { Session } from '../sessions/session.ts'

/** Reads the session id from the browser's cookie, which Spring writes in base64. Null if there is no cookie. */
export function sessionIdOf(c: Context): string | null {
  const value = getCookie(c, webSession.cookie)
  return value ? Buffer.from(value, 'base64').toString('utf8') : null
}

export function giveCookies(c: Context, session: Session): void {
  setCookie(c, webSession.cookie, Buffer.from(session.id).toString('base64'), {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
  })
  if (session.csrfToken !== null) setCookie(c, webSession.csrfCookie, session.csrfToken, { path: '/' })
}

export function dropCookies(c: Context): void {
  deleteCookie(c, webSession.cookie, { path: '/' })
  deleteCookie(c, webSession.csrfCookie, { path: '/' })
}
