import { decode } from 'hono/jwt'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { admin, caller, exchange, guest, owner } from './support/client.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, sql, startService, until } from './support/deployment.ts'

interface Job {
  id: number
  name: string
  status: string
}

interface Page<T> {
  content: T[]
  totalElements: number
}

async function json<T>(answer: Response | Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T
}

describe('token exchange', () => {
  test('accepts multipart and urlencoded forms, and signs a JWT of the configured life', async () => {
    const on = await deployment()
    const { url } = await startService({ ...on.settings, VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '900' })
    const urlencoded = fetch(`${url}/api/uaa/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'apitoken', scope: 'openid', token: admin.apiToken }),
    })
    for (const answer of [await exchange(url, admin.apiToken), await urlencoded]) {
      expect(answer.status).toBe(200)
      const token = await json<{ access_token: string; expires_in: number; token_type: string; scope: string }>(answer)
      expect(token).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'openid' })
      const { header, payload } = decode(token.access_token)
      expect(header.alg).toBe('HS256')
      expect(payload.exp! - payload.iat!).toBe(900)
      expect(Math.abs(payload.iat! - Date.now() / 1000)).toBeLessThan(5)
      expect(payload['user_name']).toBe('admin')
    }
  })

  test('lives an hour where nothing is set', async () => {
    const { url } = await startService((await deployment()).settings)
    expect((await json<{ expires_in: number }>(exchange(url, admin.apiToken))).expires_in).toBe(3600)
  })

  test.each([
    [
      { grant_type: 'apitoken', scope: 'openid', token: 'wrong' },
      401,
      { error: 'Unauthorized', message: 'Bad credentials', path: '/api/uaa/oauth/token' },
    ],
    [{ grant_type: 'apitoken', scope: 'openid' }, 401, { message: 'Bad credentials' }],
    [{ grant_type: 'password', scope: 'openid', token: admin.apiToken }, 400, { error: 'unsupported_grant_type' }],
    [{ grant_type: 'apitoken', token: admin.apiToken }, 400, { error: 'invalid_scope' }],
  ])('refuses %o', async (form, status, body) => {
    const { url, log } = await startService((await deployment()).settings)
    const answer = await fetch(`${url}/api/uaa/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form as Record<string, string>),
    })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject(body)
    expect(log()).not.toContain(admin.apiToken)
  })

  test('refuses a body that is no form', async () => {
    const { url } = await startService((await deployment()).settings)
    expect(
      (
        await fetch(`${url}/api/uaa/oauth/token`, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(400)
  })
})

describe('Bearer tokens', () => {
  test('are refused when forged, of another start, or expired by the clock of the service', async () => {
    const on = await deployment()
    const service = await startService(on.settings, { controlPort: await freePort() })
    const { access_token: token } = await json<{ access_token: string }>(exchange(service.url, admin.apiToken))
    const me = (bearer: string): Promise<Response> =>
      fetch(`${service.url}/api/uaa/me`, { headers: { authorization: `Bearer ${bearer}` } })
    expect((await me(token)).status).toBe(200)
    const forged = await me(`${token.slice(0, -2)}xx`)
    expect([forged.status, (await json<{ message: string }>(forged)).message]).toEqual([401, 'Invalid access token'])
    await fetch(`http://127.0.0.1:${service.controlPort}/clock`, { method: 'POST', body: '{"ms":3600000}' })
    const expired = await me(token)
    expect([expired.status, (await json<{ message: string }>(expired)).message]).toEqual([401, 'Access token expired'])
    expect(expired.headers.get('www-authenticate')).toContain('invalid_token')
    expect((await fetch(`${service.url}/api/uaa/me`)).status).toBe(401)
  })

  test('outlive a restart where the secret is a setting', async () => {
    const on = await deployment()
    const settings = { ...on.settings, VENDOR_JWT_SECRET: 'a-secret-of-at-least-32-characters' }
    const first = await startService(settings)
    const { access_token: token } = await json<{ access_token: string }>(exchange(first.url, admin.apiToken))
    await first.stop()
    const second = await startService(settings)
    expect((await fetch(`${second.url}/api/uaa/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    )
  })
})

test('the API token itself opens the API too, and is looked up on each call', async () => {
  const on = await deployment()
  const { url } = await startService(on.settings)
  const me = (authorization: string): Promise<Response> => fetch(`${url}/api/uaa/me`, { headers: { authorization } })
  expect(await json(me(`api-token ${owner.apiToken}`))).toMatchObject({ username: 'olga' })
  expect((await me('api-token wrong')).status).toBe(401)
  expect((await me(`Bearer ${owner.apiToken}`)).status).toBe(401)
})

test("the service's user is shown", async () => {
  const { url } = await startService((await deployment()).settings)
  expect(await json((await caller(url, owner))('/api/uaa/me'))).toEqual({
    id: 2,
    username: 'olga',
    enabled: true,
    authorities: [{ authority: 'ROLE_USER' }],
  })
})

describe('tree migration', () => {
  test.each([
    ['an administrator', admin, { own: 202, other: 202, all: 202, missing: 404 }],
    ["the project's owner", owner, { own: 202, other: 403, all: 403, missing: 403 }],
    ['anybody else', guest, { own: 403, other: 403, all: 403, missing: 403 }],
  ])('asked for by %s', async (_, user, expected) => {
    const { url } = await startService((await deployment()).settings)
    const call = await caller(url, user)
    const status = async (path: string): Promise<number> => (await call(path, 'POST')).status
    expect({
      own: await status('/api/project/1/test-case/tree/migration'),
      other: await status('/api/project/2/test-case/tree/migration'),
      all: await status('/api/project/test-case/tree/migration'),
      missing: await status('/api/project/99/test-case/tree/migration'),
    }).toEqual(expected)
    expect(await status('/api/project/1/test-case/tree/1/migration')).toBe(expected.own)
  })

  test('of one tree answers 202 without a body, moves its data, and knows which tree is whose', async () => {
    const on = await deployment()
    const { url } = await startService(on.settings)
    const call = await caller(url, admin)
    const nodes = async (): Promise<number> =>
      (await sql<{ count: number }>(on, 'SELECT count(*)::int AS count FROM tree_node WHERE tree_id = 1'))[0]!.count
    await until('the first migration', async () => (await nodes()) === 24)
    await sql(on, 'DELETE FROM tree_node')
    const answer = await call('/api/project/1/test-case/tree/1/migration', 'POST')
    expect([answer.status, await answer.text()]).toEqual([202, ''])
    await until('the data', async () => (await nodes()) === 24)
    expect((await call('/api/project/1/test-case/tree/3/migration', 'POST')).status).toBe(404)
    expect((await call('/api/project/x/test-case/tree/migration', 'POST')).status).toBe(400)
  })

  test('of data that cannot be moved makes a failed job, until the data is mended', async () => {
    const on = await deployment()
    const service = await startService(on.settings)
    const call = await caller(service.url, admin)
    const newest = async (): Promise<Job> =>
      (await json<Page<Job>>(call('/api/migration/job?sort=id,DESC&size=1'))).content[0]!
    await sql(
      on,
      "UPDATE tree_data SET path = 'Suites / old' WHERE id = (SELECT min(id) FROM tree_data WHERE tree_id = 2)",
    )
    await call('/api/project/1/test-case/tree/2/migration', 'POST')
    const failed = await until('the job', async () => ((await newest()).status === 'FAILED' ? newest() : null))
    expect(failed.name).toBe('test-case-tree-migration: project 1, tree 2')
    expect((await json<{ steps: unknown[] }>(call(`/api/migration/job/${failed.id}`))).steps).toMatchObject([
      { status: 'FAILED', context: { error: expect.stringContaining('invalid input syntax for type json') as string } },
    ])
    expect(service.log()).toContain('Migration of tree 2 of project 1 failed')
    await sql(on, `UPDATE tree_data SET path = '["Suites"]' WHERE path = 'Suites / old'`)
    await call('/api/project/1/test-case/tree/migration', 'POST')
    const mended = await until('the job', async () => ((await newest()).status === 'COMPLETED' ? newest() : null))
    expect(mended.name).toBe(failed.name)
  })

  test('that waits is cancelled by whoever may begin it, and its tree stays as it is', async () => {
    const on = await deployment()
    const { url } = await startService(on.settings)
    const [call, asOwner, asGuest] = await Promise.all([admin, owner, guest].map((user) => caller(url, user)))
    await until(
      'the first migration',
      async () => (await sql(on, 'SELECT 1 FROM tree WHERE NOT migrated')).length === 0,
    )
    await sql(on, 'DELETE FROM tree_node; DELETE FROM async_job')
    const holder = new Client({ connectionString: on.database.url })
    await holder.connect()
    onEnd(() => holder.end())
    await holder.query('BEGIN; LOCK TABLE tree_node')
    for (const tree of [1, 2]) await asOwner!(`/api/project/1/test-case/tree/${tree}/migration`, 'POST')
    await call!('/api/project/3/test-case/tree/4/migration', 'POST')
    const waiting = (await json<Page<Job>>(call!('/api/migration/job?sort=id'))).content
    expect(waiting.map(({ status }) => status)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS'])
    const cancel = async (by: typeof call, id: number): Promise<number> =>
      (await by!(`/api/migration/job/${id}/cancel`, 'POST')).status
    expect(await cancel(asGuest, waiting[1]!.id)).toBe(403)
    expect(await cancel(asOwner, waiting[2]!.id)).toBe(403)
    expect(await cancel(asOwner, waiting[1]!.id)).toBe(202)
    expect(await cancel(call, 999_999)).toBe(404)
    await holder.query('COMMIT')
    const ended = await until('the jobs', async () => {
      const { content } = await json<Page<Job>>(call!('/api/migration/job?sort=id'))
      return content.every(({ status }) => status !== 'IN_PROGRESS') && content
    })
    expect(ended.map(({ status }) => status)).toEqual(['COMPLETED', 'CANCELLED', 'COMPLETED'])
    expect(await sql(on, 'SELECT DISTINCT tree_id::int AS id FROM tree_node ORDER BY 1')).toEqual([
      { id: 1 },
      { id: 4 },
    ])
    // what is over stays as it was
    expect(await cancel(call, ended[0]!.id)).toBe(202)
    expect((await json<Job>(call!(`/api/migration/job/${ended[0]!.id}`))).status).toBe('COMPLETED')
    expect((await json<{ steps: unknown }>(call!(`/api/migration/job/${ended[1]!.id}`))).steps).toMatchObject([
      { status: 'STOPPED' },
    ])
  })

  test('runs at start for trees of the old structure, and a hanging one keeps nobody from stopping', async () => {
    const on = await deployment()
    const first = await startService(on.settings)
    await until(
      'the first migration',
      async () => (await sql(on, 'SELECT 1 FROM tree WHERE NOT migrated')).length === 0,
    )
    await first.stop()
    await sql(
      on,
      'UPDATE tree SET migrated = false WHERE id = 4; ' +
        "INSERT INTO tree_data (tree_id, test_case_id, path) VALUES (4, 1, 'broken')",
    )
    const service = await startService(on.settings)
    const call = await caller(service.url, admin)
    await until(
      'the failed job',
      async () => (await json<Page<Job>>(call('/api/migration/job?status=FAILED'))).totalElements === 1,
    )
    const holding = on.database.query('BEGIN; LOCK TABLE tree_node; SELECT pg_sleep(3); COMMIT').catch(() => undefined)
    await until(
      'the table to be held',
      async () =>
        (
          await sql(
            on,
            "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted " +
              "AND relation = 'tree_node'::regclass",
          )
        ).length > 0,
    )
    await call('/api/project/2/test-case/tree/migration', 'POST')
    expect((await json<Page<Job>>(call('/api/migration/job?status=IN_PROGRESS'))).totalElements).toBe(1)
    const since = Date.now()
    await service.stop()
    expect(Date.now() - since).toBeLessThan(2000)
    await holding
    expect(await sql(on, 'SELECT status FROM async_job ORDER BY id DESC LIMIT 1')).toEqual([{ status: 'IN_PROGRESS' }])
  })
})

test('pages, dates and unknown paths', async () => {
  const on = await deployment()
  const { url } = await startService(on.settings, { clockOffsetMs: -86_400_000 })
  const page = await fetch(`${url}/swagger-ui.html`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Select a definition')])
  expect(Math.abs(Date.parse(page.headers.get('date')!) - Date.now() + 86_400_000)).toBeLessThan(5000)
  const unknown = await fetch(`${url}/api/nothing`)
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    {
      timestamp: expect.stringMatching(/^\d{4}-.*\+00:00$/) as string,
      status: 404,
      error: 'Not Found',
      message: 'No message available',
      path: '/api/nothing',
    },
  ])
})

test('the control server tells the state, delays answers, and refuses what it does not know', async () => {
  const on = await deployment()
  const service = await startService(on.settings, { controlPort: await freePort(), responseDelayMs: 20 })
  const control = (path: string, body?: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${service.controlPort}${path}`, body === undefined ? {} : { method: 'POST', body })
  expect(await json(control('/state'))).toEqual({
    phase: 'running',
    clockOffsetMs: 0,
    responseDelayMs: 20,
    broker: 'up',
  })
  await control('/delay', '{"ms":300}')
  const since = Date.now()
  await fetch(`${service.url}/api/management/health/liveness`)
  expect(Date.now() - since).toBeGreaterThanOrEqual(295)
  expect((await control('/clock', '{"ms":"x"}')).status).toBe(400)
  expect((await control('/clock', 'x')).status).toBe(400)
  expect((await control('/nothing', '{"ms":1}')).status).toBe(404)
  expect((await control('/nothing')).status).toBe(404)
})
