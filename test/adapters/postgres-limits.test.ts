import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import { fillDisk, freeDisk, removeServer, startServer, stopServer } from '../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { withoutGiven } from './own-servers.ts'

const timeoutMs = 3000
let folder = ''
let server: ServerRecord
let database: FreshDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-postgres-'))
  const postgres = { maxConnections: 10, diskBytes: 200_000_000 }
  server = await startServer(
    { kind: 'postgres', directory: join(folder, 'postgres'), postgres },
    { progress: () => undefined, environment: withoutGiven() },
  )
  database = await freshDatabase(server)
})
afterAll(async () => {
  await removeServer(server)
  await rm(folder, { recursive: true, force: true })
})

test('a full disk is told from one that is not', async () => {
  const { source, close } = await openDatabase(database.endpoint, { timeoutMs })
  onTestFinished(close)
  expect(await source.temporarySpace()).toEqual({ writable: true })
  await fillDisk(server)
  const full = await source.temporarySpace()
  await freeDisk(server)
  expect(full.writable ? '' : full.message).toMatch(/No space left on device/)
  expect(await source.temporarySpace()).toEqual({ writable: true })
})

test('a superuser sees where the data is', async () => {
  const { source, close } = await openDatabase(database.administrator, { timeoutMs })
  onTestFinished(close)
  const storage = await source.storage()
  expect(storage.dataDirectory).toMatch(/^\//)
  expect(storage.freeBytes === null || storage.freeBytes <= (storage.totalBytes ?? 0)).toBe(true)
})

test('all connections are taken', async () => {
  const { user, password, hosts } = database.endpoint
  const clients = Array.from(
    { length: 7 },
    () => new pg.Client({ ...hosts[0], user: user ?? '', password: password?.reveal() ?? '', database: database.name }),
  )
  await Promise.all(clients.map(async (client) => client.connect()))
  const failure = await errorOf(openDatabase(database.endpoint, { timeoutMs }))
  const { source, close } = await openDatabase(database.administrator, { timeoutMs })
  const connections = await source.connections()
  await close()
  await Promise.all(clients.map(async (client) => client.end()))
  expect(failure?.code).toBe('EXHAUSTED')
  expect(failure?.message).toMatch(/^PostgreSQL at \S+ has no free connection: /)
  expect(failure?.suggestions[0]).toMatch(/^psql -h \S+ -p \d+ -U \S+ -d \S+ -c 'SELECT pid, usename/)
  expect(connections).toMatchObject({ used: 8, max: 10, reserved: 3, byUser: [{ user, count: 7, idle: 7 }] })
})

test('the server is stopped while it is asked', async () => {
  const { source, close } = await openDatabase(database.endpoint, { timeoutMs })
  onTestFinished(close)
  await source.clock()
  await stopServer(server)
  expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE PostgreSQL at /)
  expect(await failureOf(openDatabase(database.endpoint, { timeoutMs }))).toMatch(
    /^UNREACHABLE PostgreSQL at \S+ refused the connection/,
  )
})
