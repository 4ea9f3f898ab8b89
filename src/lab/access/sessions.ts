import type { Redis } from 'ioredis'
import { AdminError } from '../../core/error.ts'
import { webSession } from '../../knowledge/sessions.ts'
import type { Lab } from '../lab.ts'
import { labNames, serversOf, notLetIn } from '../lab.ts'
import { seedUsers } from '../practice-service/data/seeds.ts'
import { serviceUrl } from '../settings.ts'

/** Runs `work` on a connection to the lab's Redis. Throws UNREACHABLE. */
export async function onSessions<T>(
  lab: Pick<Lab, 'layout' | 'state'>,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { redis: record } = await serversOf(lab)
  const { default: ioredis } = await import('ioredis')
  const redis = new ioredis.Redis({
    host: record.host,
    port: record.port,
    db: Number(record.database),
    ...(record.password ? { password: record.password } : {}),
    ...(record.user && record.user !== 'default' ? { username: record.user } : {}),
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 5000,
  })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
  } catch (error) {
    throw notLetIn(record, error)
  }
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** Removes all sessions of the lab, in batches. */
export async function removeSessions(lab: Pick<Lab, 'layout' | 'state'>): Promise<void> {
  const { namespace } = labNames(lab.state, await serversOf(lab))
  await onSessions(lab, async (redis) => {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${namespace}:*`, 'COUNT', 1000)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  })
}

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
    throw new AdminError(
      'FAILED',
      `${username} could not sign in to the lab's practice service: status ${answer.status}`,
    )
}
