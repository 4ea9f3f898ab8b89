import { expect, test } from 'vitest'
import { answersGiven, planAnswers } from '../../../src/lab/control.ts'
import { admin, caller } from './support/client.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, sql, startService, until } from './support/deployment.ts'
import type { Deployment } from './support/deployment.ts'

const path = '/api/project/1/test-case/tree/1/migration'
const anyMigration = { method: 'POST', path: '/api/project/*/migration' }

interface Served {
  on: Deployment
  port: number
  migrate: () => Promise<Response>
  get: (path: string) => Promise<Response>
  jobs: () => Promise<number>
}

async function served(): Promise<Served> {
  const on = await deployment()
  const { url, controlPort } = await startService(on.settings, { controlPort: await freePort() })
  const call = await caller(url, admin)
  await until('the first migration', async () => (await sql(on, 'SELECT 1 FROM tree WHERE NOT migrated')).length === 0)
  const jobs = async (): Promise<number> =>
    (await sql<{ count: number }>(on, 'SELECT count(*)::int AS count FROM async_job'))[0]!.count
  return { on, port: controlPort!, migrate: () => call(path, 'POST'), get: (of) => call(of), jobs }
}

test('a plan holds for so many calls of a path and method, one answer after the other, and then is over', async () => {
  const { port, migrate, get, jobs } = await served()
  const before = await jobs()
  await planAnswers(port, [
    { ...anyMigration, times: 2, status: 429, headers: { 'Retry-After': '7' } },
    { ...anyMigration, times: 1, status: 502, proxyPage: true },
    { ...anyMigration, after: 1, times: 1, status: 503, body: 'busy' },
  ])
  expect((await get('/api/project')).status).toBe(200)
  const first = await migrate()
  expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([
    429,
    '7',
    {
      timestamp: expect.any(String) as string,
      status: 429,
      error: 'Too Many Requests',
      message: 'Too Many Requests',
      path,
    },
  ])
  expect((await migrate()).status).toBe(429)
  const page = await migrate()
  expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
    502,
    'text/html',
    expect.stringContaining('<h1>502 Bad Gateway</h1>') as string,
  ])
  expect(await jobs()).toBe(before)
  expect((await migrate()).status).toBe(202)
  const busy = await migrate()
  expect([busy.status, await busy.text()]).toEqual([503, 'busy'])
  expect((await migrate()).status).toBe(202)
  expect(await answersGiven(port)).toEqual([2, 1, 1])
  expect(await jobs()).toBe(before + 2)
})

test('a call is never answered, its connection is cut before the work, or after it', async () => {
  const { port, migrate, get, jobs } = await served()
  const before = await jobs()
  await planAnswers(port, [{ ...anyMigration, times: 1, ending: 'cut' }])
  await expect(migrate()).rejects.toThrow('fetch failed')
  expect(await jobs()).toBe(before)
  await planAnswers(port, [{ ...anyMigration, times: 1, ending: 'lost' }])
  await expect(migrate()).rejects.toThrow('fetch failed')
  expect(await jobs()).toBe(before + 1)
  await planAnswers(port, [{ path: '/api/*', times: 1, ending: 'silent' }])
  const answered = get('/api/project').then(
    () => 'answered',
    () => 'cut',
  )
  await until('the call', async () => (await answersGiven(port))[0] === 1)
  // others are answered meanwhile, and stopping the service ends it
  expect((await get('/api/project')).status).toBe(200)
  expect(await Promise.race([answered, Promise.resolve('waits')])).toBe('waits')
})

test('a plan without an answer only counts, and may make calls wait; another one takes its place', async () => {
  const { port, migrate, get } = await served()
  await planAnswers(port, [{ path: '/api/project' }, { ...anyMigration, delayMs: 300 }])
  const since = performance.now()
  expect((await migrate()).status).toBe(202)
  expect(performance.now() - since).toBeGreaterThanOrEqual(295)
  expect((await get('/api/project?size=1')).status).toBe(200)
  expect(await answersGiven(port)).toEqual([1, 1])
  await planAnswers(port, [])
  expect((await migrate()).status).toBe(202)
  expect(await answersGiven(port)).toEqual([])
})

test('what is no plan is refused with the reason', async () => {
  const { controlPort } = await startService((await deployment()).settings, { controlPort: await freePort() })
  const refused: readonly [unknown, string][] = [
    [{}, 'send a list of answers'],
    [[1], 'an answer is no object'],
    [[{ status: 500 }], 'path is missing'],
    [[{ path: '/', code: 500 }], 'code is not known'],
    [[{ path: '/', status: '500' }], 'status is not of its type'],
    [[{ path: '/', ending: 'bang' }], 'ending is not known'],
  ]
  for (const [plan, reason] of refused) {
    await expect(planAnswers(controlPort!, plan as [])).rejects.toThrow(
      `the lab could not control the practice service: status 400: ${reason}`,
    )
  }
})
