import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { removeServer, resumeServer, startServer, stopServer } from '../../../src/lab/servers/index.ts'
import type { ServerRecord, ServerRequest } from '../../../src/lab/servers/index.ts'
import { freshDatabase, freshRedisDatabase } from '../../servers/index.ts'
import { admin, browser, caller } from './support/client.ts'
import { deployment, onEnd, startService, until } from './support/deployment.ts'
import type { Started } from './support/deployment.ts'

const quiet = { progress: () => undefined }

/** A server of the test's own, which it may stop. */
async function ownServer(request: Omit<ServerRequest, 'directory'>): Promise<ServerRecord> {
  const folder = await mkdtemp(join(tmpdir(), 'outage-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  const record = await startServer({ ...request, directory: join(folder, 'server') }, quiet)
  onEnd(() => removeServer(record))
  return record
}

async function health({ url }: Started): Promise<{ http: number; status: string; parts: Record<string, string> }> {
  const answer = await fetch(`${url}/api/management/health`)
  const { status, components } = (await answer.json()) as {
    status: string
    components: Record<string, { status: string }>
  }
  return {
    http: answer.status,
    status,
    parts: Object.fromEntries(['db', 'rabbit', 'redis'].map((part) => [part, components[part]!.status])),
  }
}

test('the database goes away and comes back', async () => {
  const server = await ownServer({ kind: 'postgres' })
  const database = await freshDatabase(server)
  const on = await deployment()
  const service = await startService({
    ...on.settings,
    SPRING_DATASOURCE_URL: `jdbc:postgresql://${server.host}:${server.port}/${database.name}`,
    SPRING_DATASOURCE_USERNAME: database.endpoint.user ?? '',
    SPRING_DATASOURCE_PASSWORD: database.endpoint.password?.reveal() ?? '',
    SPRING_DATASOURCE_HIKARI_CONNECTION_TIMEOUT: '500',
  })
  const call = await caller(service.url, admin)
  await until('an idle pool', async () => (await database.query('SELECT 1 FROM tree WHERE NOT migrated')).length === 0)
  expect(await health(service)).toEqual({ http: 200, status: 'UP', parts: { db: 'UP', rabbit: 'UP', redis: 'UP' } })
  await stopServer(server, 'kill')
  await until('health', async () => (await health(service)).http === 503)
  expect(await health(service)).toEqual({ http: 503, status: 'DOWN', parts: { db: 'DOWN', rabbit: 'UP', redis: 'UP' } })
  expect((await fetch(`${service.url}/api/management/health/liveness`)).status).toBe(200)
  const failed = await call('/api/project')
  expect([failed.status, ((await failed.json()) as { message: string }).message]).toEqual([
    500,
    'Internal Server Error',
  ])
  const told = service.log()
  expect(told).toMatch(
    new RegExp(
      String.raw`WARN \d+ --- \[l-1 housekeeper\] com\.zaxxer\.hikari\.pool\.HikariPool +: ` +
        'HikariPool-1 - Failed to validate connection',
    ),
  )
  expect(told).toMatch(
    new RegExp(
      'SqlExceptionHelper +: HikariPool-1 - Connection is not available, ' +
        String.raw`request timed out after \d+ms \(total=0, active=0, idle=0`,
    ),
  )
  expect(told).toContain(
    'Caused by: java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available',
  )
  await resumeServer(server, quiet)
  await until('health', async () => (await health(service)).status === 'UP')
  expect((await call('/api/project')).status).toBe(200)
})

test('the session store goes away, comes back, and is full', async () => {
  const server = await ownServer({ kind: 'redis' })
  const store = await freshRedisDatabase(server)
  const on = await deployment()
  const service = await startService({
    ...on.settings,
    SPRING_DATA_REDIS_HOST: server.host,
    SPRING_DATA_REDIS_PORT: String(server.port),
    SPRING_DATA_REDIS_DATABASE: '0',
  })
  await store.client.config('SET', 'maxmemory', '1')
  const full = await browser(service.url).open('/login/system')
  expect(full.status).toBe(500)
  expect(service.log()).toContain(
    'Caused by: io.lettuce.core.RedisCommandExecutionException: ' +
      "OOM command not allowed when used memory > 'maxmemory'.",
  )
  await store.client.config('SET', 'maxmemory', '0')
  expect((await browser(service.url).open('/login/system')).status).toBe(200)
  store.client.disconnect()

  await stopServer(server, 'kill')
  await until('health', async () => (await health(service)).parts['redis'] === 'DOWN')
  expect((await browser(service.url).open('/login/system')).status).toBe(500)
  expect(service.log()).toContain(
    'org.springframework.data.redis.RedisConnectionFailureException: Unable to connect to Redis',
  )
  await until('another attempt', () =>
    /i\.l\.core\.protocol\.ConnectionWatchdog +: Cannot reconnect to \[127\.0\.0\.1\/<unresolved>:\d+\]/.test(
      service.log(),
    ),
  )
  await resumeServer(server, quiet)
  await until('health', async () => (await health(service)).status === 'UP')
  expect((await browser(service.url).open('/login/system')).status).toBe(200)
})

test('a session store that is not there at start keeps nobody from starting', async () => {
  const on = await deployment()
  const service = await startService({
    ...on.settings,
    SPRING_DATA_REDIS_PORT: '1',
    SPRING_SESSION_REDIS_REPOSITORY_TYPE: 'indexed',
  })
  expect(await health(service)).toMatchObject({ http: 503, parts: { db: 'UP', redis: 'DOWN' } })
})

test('a database without a free slot: the service cannot start', async () => {
  const server = await ownServer({ kind: 'postgres', postgres: { maxConnections: 10 } })
  const database = await freshDatabase(server)
  const on = await deployment()
  const [{ host, port }] = database.endpoint.hosts as [{ host: string; port: number }]
  const holders = Array.from(
    { length: 7 },
    () => new Client({ host, port, database: database.name, user: server.user, password: server.password }),
  )
  for (const holder of holders) await holder.connect()
  onEnd(() => Promise.all(holders.map((holder) => holder.end())))
  const url = `jdbc:postgresql://${server.host}:${server.port}/${database.name}`
  const start = startService({
    ...on.settings,
    SPRING_DATASOURCE_URL: url,
    SPRING_DATASOURCE_USERNAME: database.endpoint.user ?? '',
    SPRING_DATASOURCE_PASSWORD: database.endpoint.password?.reveal() ?? '',
  })
  await expect(start).rejects.toThrow(
    /FATAL: (sorry, too many clients already|remaining connection slots are reserved)/,
  )
})
