import { describe, expect, test } from 'vitest'
import {
  javaInteger,
  javaLong,
  javaString,
  readInteger,
  readLong,
  readString,
} from '../../../src/lab/practice-service/sessions/repository.ts'
import { admin, browser } from './support/client.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, startService } from './support/deployment.ts'
import type { Deployment, Started } from './support/deployment.ts'

const csrfText = 'The expected CSRF token could not be found'

/** Lets the service's clock be set while it runs. */
async function clocked(
  on: Deployment,
  machine: Record<string, unknown> = {},
): Promise<{ service: Started; setClock: (ms: number) => Promise<void> }> {
  const service = await startService(on.settings, { controlPort: await freePort(), ...machine })
  return {
    service,
    setClock: async (ms) => {
      const answer = await fetch(`http://127.0.0.1:${service.controlPort}/clock`, {
        method: 'POST',
        body: JSON.stringify({ ms }),
      })
      expect(answer.status).toBe(200)
    },
  }
}

async function messageOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { message: string }).message
}

describe('Java serialisation', () => {
  // as JDK 17 writes them
  test.each([
    [
      javaLong(1795230245123),
      'aced00057372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565787200' +
        '106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870000001a1fc0fa103',
    ],
    [
      javaInteger(1800),
      'aced0005737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200' +
        '106a6176612e6c616e672e4e756d62657286ac951d0b94e08b020000787000000708',
    ],
    [javaString('abc'), 'aced0005740003616263'],
  ])('writes %s', (bytes, hex) => expect(bytes.toString('hex')).toBe(hex))

  test('reads what it writes, and nothing else', () => {
    expect([javaLong(1).length, javaInteger(1).length]).toEqual([82, 81])
    expect(readLong(javaLong(1795230245123))).toBe(1795230245123)
    expect(readInteger(javaInteger(-1))).toBe(-1)
    expect(readString(javaString('ольга'))).toBe('ольга')
    expect([
      readLong(javaInteger(1)),
      readInteger(javaLong(1)),
      readString(Buffer.from('abc')),
      readLong(undefined),
    ]).toEqual([null, null, null, null])
  })
})

test('a session is one hash that ends by the clock of the service', async () => {
  const on = await deployment()
  const service = await startService({ ...on.settings, VENDOR_REDIS_SESSIONTTL: '1h' }, { clockOffsetMs: 600_000 })
  await browser(service.url).open('/login/system')
  const keys = await on.redis.client.keys('*')
  expect(keys).toEqual([expect.stringMatching(/^spring:session:sessions:[0-9a-f-]{36}$/)])
  const hash = await on.redis.client.hgetallBuffer(keys[0]!)
  expect(Object.keys(hash).sort()).toEqual([
    'creationTime',
    'lastAccessedTime',
    'maxInactiveInterval',
    'sessionAttr:CSRF_TOKEN',
  ])
  expect(hash['creationTime']!.length).toBe(82)
  expect(Math.abs(readLong(hash['creationTime'])! - Date.now() - 600_000)).toBeLessThan(10_000)
  expect(readInteger(hash['maxInactiveInterval'])).toBe(3600)
  const ttl = await on.redis.client.ttl(keys[0]!)
  expect(ttl).toBeGreaterThan(4100)
  expect(ttl).toBeLessThanOrEqual(4200)
})

test('the indexed repository keeps its keys beside the hash', async () => {
  const on = await deployment()
  const service = await startService({
    ...on.settings,
    VENDOR_REDIS_NAMESPACE: 'testops',
    SPRING_SESSION_REDIS_REPOSITORY_TYPE: 'indexed',
    VENDOR_REDIS_SESSIONTTL: '600',
  })
  const user = browser(service.url)
  await user.open('/login/system')
  expect((await user.signIn(admin.username, admin.password)).status).toBe(200)
  const id = Buffer.from(user.cookies.get('ALLURE_TESTOPS_SESSION')!, 'base64').toString()
  const { client } = on.redis
  const index =
    'testops:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME:admin'
  const minute = (await client.keys('testops:expirations:*'))[0]!
  expect(Number(minute.split(':').at(-1)) % 60_000).toBe(0)
  const keys = [minute, index, `testops:sessions:${id}`, `testops:sessions:expires:${id}`]
  expect((await client.keys('*')).sort()).toEqual([...keys].sort())
  expect(await Promise.all(keys.map((key) => client.type(key)))).toEqual(['set', 'set', 'hash', 'string'])
  expect(await client.ttl(`testops:sessions:${id}`)).toBeGreaterThan(890)
  expect(await client.ttl(`testops:sessions:expires:${id}`)).toBeLessThanOrEqual(600)
  expect((await client.smembersBuffer(minute)).map(readString)).toEqual([`expires:${id}`])
  expect((await client.smembersBuffer(index)).map(readString)).toEqual([id])
  expect(await client.config('GET', 'notify-keyspace-events')).toContainEqual(expect.stringMatching(/E.*x|x.*E/))
})

describe('sign-in', () => {
  test('gives a new session, which then opens the API to the browser', async () => {
    const on = await deployment()
    const service = await startService(on.settings)
    const user = browser(service.url)
    expect((await user.open('/login/system')).headers.get('content-type')).toContain('text/html')
    const before = user.cookies.get('ALLURE_TESTOPS_SESSION')
    expect((await user.open('/api/uaa/me')).status).toBe(401)
    const answer = await user.signIn(admin.username, admin.password)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { id: 1, username: 'admin', authorities: [{ authority: 'ROLE_ADMIN' }] },
    ])
    expect(user.cookies.get('ALLURE_TESTOPS_SESSION')).not.toBe(before)
    expect(await (await user.open('/api/uaa/me')).json()).toMatchObject({ username: 'admin' })
    expect(await on.redis.client.keys('*')).toHaveLength(1)
  })

  test('needs the right password and the CSRF token', async () => {
    const service = await startService((await deployment()).settings)
    const user = browser(service.url)
    const without = await user.signIn(admin.username, admin.password, 'x')
    expect([without.status, await messageOf(without)]).toEqual([401, csrfText])
    await user.open('/login/system')
    const forged = await user.signIn(admin.username, admin.password, 'x')
    expect([forged.status, await messageOf(forged)]).toEqual([403, 'Invalid CSRF Token'])
    const wrong = await user.signIn(admin.username, 'guess')
    expect([wrong.status, await messageOf(wrong)]).toEqual([401, 'Bad credentials'])
    expect(service.log()).not.toContain('guess')
  })

  test.each([
    ['expired', 3_600_000],
    ['not yet active', -3_600_000],
  ])('with a session that is %s by the clock of the service: 401 until the store is flushed', async (_, ms) => {
    const on = await deployment()
    const { service, setClock } = await clocked(on)
    const user = browser(service.url)
    await user.open('/login/system')
    await setClock(ms)
    for (const again of [1, 2]) {
      await user.open('/login/system')
      const refused = await user.signIn(admin.username, admin.password)
      expect([again, refused.status, await messageOf(refused)]).toEqual([again, 401, csrfText])
    }
    await setClock(0)
    await on.redis.client.flushdb()
    await user.open('/login/system')
    expect((await user.signIn(admin.username, admin.password)).status).toBe(200)
  })

  test('by a clock that is further behind than a session lives: the store drops each session at once', async () => {
    const on = await deployment()
    const service = await startService(
      { ...on.settings, VENDOR_REDIS_SESSIONTTL: '30m' },
      { clockOffsetMs: -3_600_000 },
    )
    const user = browser(service.url)
    await user.open('/login/system')
    expect(await on.redis.client.keys('*')).toEqual([])
    expect(await messageOf(await user.signIn(admin.username, admin.password))).toBe(csrfText)
  })
})

test('logging out removes the session', async () => {
  const on = await deployment()
  const service = await startService(on.settings)
  const user = browser(service.url)
  await user.open('/login/system')
  await user.signIn(admin.username, admin.password)
  const cookie = `ALLURE_TESTOPS_SESSION=${user.cookies.get('ALLURE_TESTOPS_SESSION')}`
  expect((await fetch(`${service.url}/api/logout`, { method: 'POST', headers: { cookie } })).status).toBe(204)
  expect(await on.redis.client.keys('*')).toEqual([])
})
