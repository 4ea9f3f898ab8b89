import { AdminError } from '../core/error.ts'
import { webSession } from '../knowledge/web-session.ts'
import type { Lab } from './lab.ts'
import { seedUsers } from './practice-service/data/seeds.ts'
import { serviceUrl } from './settings.ts'

/** Signs users in to the web interface as their browsers would, so that the service writes their sessions. */
export async function signInUsers(lab: Lab, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await signInAt(serviceUrl(lab), seedUsers[index % seedUsers.length]!)
}

/** Signs one user in at the service's address. Throws FAILED. */
export async function signInAt(
  url: string,
  { username, password }: { username: string; password: string },
): Promise<void> {
  const page = await fetch(`${url}${webSession.loginPage}`, { headers: { connection: 'close' } })
  await page.body?.cancel()
  const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
  const csrf = cookies.find((cookie) => cookie.startsWith(`${webSession.csrfCookie}=`))?.split('=')[1] ?? ''
  const answer = await fetch(`${url}${webSession.signIn}`, {
    method: 'POST',
    headers: { cookie: cookies.join('; '), [webSession.csrfHeader]: csrf, connection: 'close' },
    body: new URLSearchParams({ username, password }),
  })
  await answer.body?.cancel()
  if (!answer.ok)
    throw new AdminError('FAILED', `${username} could not sign in to the practice service: status ${answer.status}`)
}
