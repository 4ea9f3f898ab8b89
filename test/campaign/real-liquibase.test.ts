import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { removeServer, startServer } from '../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { freshDatabase } from '../servers/database.ts'
import type { FreshDatabase } from '../servers/database.ts'
import { pgbouncer } from '../servers/index.ts'
import type { Pgbouncer } from '../servers/pgbouncer.ts'
import { deploy } from '../repairs/support/deploy.ts'
import type { Deployed } from '../repairs/support/deploy.ts'
import { operator } from '../repairs/support/operator.ts'
import type { Operator } from '../repairs/support/operator.ts'
import { standIn } from '../repairs/support/stand-in.ts'
import type { StandIn } from '../repairs/support/stand-in.ts'
import { liquibase } from './liquibase.ts'
import type { Liquibase, Migration, Update } from './liquibase.ts'

const timeoutMs = 300_000
const zones = ['UTC', 'Asia/Tokyo', 'America/Los_Angeles'] as const

let real: Liquibase
let server: ServerRecord
let database: FreshDatabase
let service: StandIn
let deployed: Deployed
let someone: Operator
let folder: string

beforeAll(async () => {
  real = await liquibase()
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-real-'))
  server = await startServer(
    { kind: 'postgres', directory: join(folder, 'postgres') },
    { progress: (message) => void process.stderr.write(`${message}\n`) },
  )
  database = await freshDatabase(server)
  service = await standIn({ running: false })
  deployed = await deploy((secret) => ({
    platform: 'host',
    host: service.host,
    url: service.url,
    database: {
      url: `postgresql://${server.host}:${server.port}/${database.name}`,
      user: database.endpoint.user,
      password: secret(database.endpoint.password!.reveal()),
    },
  }))
  someone = await operator(deployed)
}, timeoutMs)

afterAll(async () => {
  await someone.leave()
  await Promise.all([service.end(), deployed.remove(), database.cleanup()])
  await removeServer(server)
  await rm(folder, { recursive: true, force: true })
  await real.remove()
}, timeoutMs)

let number = 0

/** A migration that holds the lock: at one statement, or at a step in Java. */
async function migrating(of: Partial<Update> = {}): Promise<Migration> {
  const isAtWork = async (): Promise<boolean> =>
    (
      await database.query(
        "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()",
      )
    ).length > 0
  return real.update(
    { name: `change-${(number += 1)}`, work: 'statement', endpoint: database.endpoint, ...of },
    isAtWork,
  )
}

async function settled({
  zone = 'UTC',
  port = server.port,
  more = '',
}: {
  zone?: string
  port?: number
  more?: string
} = {}): Promise<void> {
  await service.settings(
    `SPRING_DATASOURCE_URL=jdbc:postgresql://${server.host}:${port}/${database.name}\n` +
      `SPRING_DATASOURCE_USERNAME=${database.endpoint.user}\nTZ=${zone}\n${more}`,
  )
}

/** What sessions of the service's user do. */
async function states(): Promise<unknown[]> {
  return (
    await database.query(`SELECT state FROM pg_stat_activity WHERE usename = '${database.endpoint.user}' ORDER BY 1`)
  ).map(({ state }) => state)
}

async function idle(): Promise<void> {
  while ((await states()).length > 0) await sleep(200)
}

/** How the service is while the operator is at work. */
const ways = ['stopped', 'running', 'waiting'] as const

async function during<T>(way: (typeof ways)[number], work: () => Promise<T>): Promise<T> {
  await service.stop()
  service.isUp = way !== 'waiting'
  if (way !== 'stopped') await service.start()
  if (way !== 'waiting') return work()
  // as Liquibase does, at each of its looks
  const log = async (): Promise<void> =>
    service.log(`${new Date().toISOString()}  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....`)
  await log()
  const again = setInterval(() => void log(), 1000)
  // it gets what it waits for, once that is free
  service.onStart(async () => void (service.isUp = true))
  try {
    return await work()
  } finally {
    clearInterval(again)
    service.onStart(null)
    service.isUp = true
  }
}

interface Unlocked {
  code: number | null
  outcome: string
  said: string | null
  locked: unknown
}

async function unlocked(table = 'public.databasechangeloglock'): Promise<Unlocked> {
  const ended = await someone.repair(['unlock-changelog', '--patience', '3'])
  const [row] = await database.query(`SELECT locked FROM ${table} WHERE id = 1`)
  const { outcome, error } = ended.json<RepairDocument>()
  return { code: ended.code, outcome, said: error?.message ?? null, locked: row!['locked'] }
}

/** In each way the service may be. */
async function unlockedEach(table?: string): Promise<[string, Unlocked][]> {
  const all: [string, Unlocked][] = []
  for (const way of ways) all.push([way, await during(way, async () => unlocked(table))])
  return all
}

const released: Unlocked = { code: 0, outcome: 'done', said: null, locked: false }
const refused = (said: RegExp): Unlocked => ({
  code: 4,
  outcome: 'refused',
  said: expect.stringMatching(said) as string,
  locked: true,
})
const refusedEach = (said: RegExp): [string, Unlocked][] => ways.map((way) => [way, refused(said)])
const works = /^the holder is alive: database session \d+ \(active for .*SELECT pg_sleep\(60\)\)/
/** whatever is missing, or what it is seen to do */
const notDead = /^(?:cannot tell whether the holder is alive|the holder is alive): /

describe('one that is held by a real Liquibase at a statement', () => {
  let migration: Migration
  beforeAll(async () => {
    await settled()
    migration = await migrating()
  }, timeoutMs)

  test(
    'which works beside a service that is up is refused, and the service is not stopped for it',
    async () => {
      await service.start()
      const calls = await service.calls()
      expect(await unlocked()).toEqual(refused(/another process may be migrating|^the holder is alive: /))
      expect(await service.calls()).toEqual(calls)
    },
    timeoutMs,
  )

  test(
    'which works while the service is stopped is refused',
    async () => {
      await service.stop()
      expect(await unlocked()).toEqual(refused(works))
    },
    timeoutMs,
  )

  test(
    'whose JVM is gone while its statement runs on is refused, whether the service runs or not',
    async () => {
      await migration.kill()
      await service.start()
      expect(await unlocked()).toEqual(refused(works))
      await service.stop()
      expect(await unlocked()).toEqual(refused(works))
    },
    timeoutMs,
  )

  test(
    'is released once its statement has ended too',
    async () => {
      await database.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> " +
          'pg_backend_pid()',
      )
      await idle()
      expect(await unlocked()).toEqual(released)
    },
    timeoutMs,
  )
})

describe.each(zones)(
  'a Liquibase by hand on the same machine whose JVM lives in %s, while the service lives in UTC,',
  (zone) => {
    beforeAll(async () => settled())

    test.each([
      ['java in a transaction', 'idle in transaction'],
      ['java outside of one', 'idle'],
    ] as const)(
      'that is at work in %s is refused, however the service is; and is dead once it was killed',
      async (work, state) => {
        const migration = await migrating({ work, zone })
        expect(await states()).toEqual([state])
        expect(await unlockedEach()).toEqual(refusedEach(notDead))
        expect(await states()).toEqual([state])
        await migration.kill()
        await idle()
        expect(await during('stopped', async () => unlocked())).toEqual(released)
      },
      timeoutMs,
    )
  },
)

describe('behind PgBouncer in transaction mode, whose connections to the server live for a second,', () => {
  let pooler: Pgbouncer
  let through: DatabaseEndpoint
  let migration: Migration | null = null
  beforeAll(async () => {
    pooler = await pgbouncer(
      database,
      [database.endpoint],
      ['server_lifetime = 1', 'server_idle_timeout = 1', 'server_round_robin = 1'],
    )
    through = pooler.endpoint(database.endpoint)
  }, timeoutMs)
  afterEach(async () => {
    await migration?.end()
    await idle()
    await database.query('UPDATE databasechangeloglock SET locked = false, lockgranted = NULL, lockedby = NULL')
  }, timeoutMs)
  afterAll(async () => pooler.stop())

  test.each(zones)(
    'to which the settings lead, a Liquibase at a step in Java is refused, also where it has no session at all (%s)',
    async (zone) => {
      await settled({ port: pooler.port })
      migration = await migrating({ work: 'java outside of one', zone, endpoint: through })
      await idle()
      expect(await unlockedEach()).toEqual(refusedEach(/may be a pooler that shares its database sessions/))
    },
    timeoutMs,
  )

  test.each(zones)(
    'of which nothing tells, a Liquibase at a step in Java is refused (%s)',
    async (zone) => {
      await settled()
      migration = await migrating({ work: 'java in a transaction', zone, endpoint: through })
      // its session is one of the pooler's
      const [session] = await database.query(
        'SELECT state, extract(epoch FROM clock_timestamp() - backend_start) < extract(epoch FROM ' +
          'clock_timestamp() - xact_start) + 2 AS young FROM pg_stat_activity WHERE usename = ' +
          `'${database.endpoint.user}'`,
      )
      expect(session).toEqual({ state: 'idle in transaction', young: true })
      expect(await unlockedEach()).toEqual(refusedEach(notDead))
    },
    timeoutMs,
  )

  test(
    'of which nothing can be known since the settings do not name the address, it is refused without a session, too',
    async () => {
      await service.settings(`SPRING_DATASOURCE_USERNAME=${database.endpoint.user}\nTZ=UTC\n`)
      migration = await migrating({ work: 'java outside of one', endpoint: through })
      await idle()
      expect(await unlockedEach()).toEqual(refusedEach(/`SPRING_DATASOURCE_URL` is not set/))
    },
    timeoutMs,
  )
})

test.each(zones)(
  'a JVM in %s that was killed, of a service that lives there, is dead, however the service is',
  async (zone) => {
    await settled({ zone })
    const migration = await migrating({ work: 'java in a transaction', zone })
    await migration.kill()
    await idle()
    const [left] = await database.query('SELECT lockgranted::text, lockedby FROM databasechangeloglock')
    const all: [string, Unlocked][] = []
    for (const way of ways) {
      await database.query('UPDATE databasechangeloglock SET locked = true, lockgranted = $1, lockedby = $2', [
        left!['lockgranted'],
        left!['lockedby'],
      ])
      all.push([way, await during(way, async () => unlocked())])
    }
    expect(all).toEqual(ways.map((way) => [way, released]))
  },
  timeoutMs,
)

test(
  'a lock in a schema and a table of its own is stuck there, and released there alone',
  async () => {
    const own = 'liquibase_own.own_lock'
    await database.query(`CREATE SCHEMA liquibase_own AUTHORIZATION ${database.endpoint.user}`)
    await database.query(
      "UPDATE databasechangeloglock SET locked = true, lockgranted = now(), lockedby = 'somebody (10.0.0.9)'",
    )
    await settled({
      more:
        'SPRING_LIQUIBASE_LIQUIBASE_SCHEMA=liquibase_own\n' +
        'SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE=own_lock\n',
    })
    const migration = await migrating({
      work: 'java in a transaction',
      words: ['--liquibase-schema-name=liquibase_own', '--database-changelog-lock-table-name=own_lock'],
    })
    expect(await unlockedEach(own)).toEqual(refusedEach(notDead))
    await migration.kill()
    await idle()
    const [before] = await database.query('SELECT xmin::text, locked, lockedby FROM databasechangeloglock')
    expect(await during('stopped', async () => unlocked(own))).toEqual(released)
    expect(await database.query('SELECT xmin::text, locked, lockedby FROM databasechangeloglock')).toEqual([before])
  },
  timeoutMs,
)
