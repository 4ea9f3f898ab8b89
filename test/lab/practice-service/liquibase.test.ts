import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, spawnService, sql, startService, until } from './support/deployment.ts'
import type { Deployment } from './support/deployment.ts'
import { buildPrograms } from './support/programs.ts'
import type { Programs } from './support/programs.ts'

interface LockRow {
  id: number
  locked: boolean
  lockgranted: string | null
  lockedby: string | null
}

const rows = (on: Deployment): Promise<LockRow[]> =>
  sql<LockRow>(on, 'SELECT id, locked, lockgranted::text, lockedby FROM databasechangeloglock ORDER BY id')
const pending = { migration: { name: '528u01', changeSets: 1, statements: 3, statementMs: 1 } }
const slow = { migration: { name: '528u01', changeSets: 2, statements: 1000, statementMs: 20 } }

let programs: Programs
beforeAll(async () => void (programs = await buildPrograms()))
afterAll(() => programs.remove())

/** A deployment whose service has run once, and gone. */
async function migrated(): Promise<Deployment> {
  const on = await deployment()
  await (await startService(on.settings)).stop()
  return on
}

test("makes Liquibase's tables, takes the lock, runs its change sets and releases it", async () => {
  const on = await deployment()
  const service = await startService(on.settings)
  const columns = await sql(
    on,
    `SELECT column_name AS name, data_type AS type, character_maximum_length AS length, is_nullable AS null
    FROM information_schema.columns WHERE table_name = 'databasechangeloglock' ORDER BY ordinal_position`,
  )
  expect(columns).toEqual([
    { name: 'id', type: 'integer', length: null, null: 'NO' },
    { name: 'locked', type: 'boolean', length: null, null: 'NO' },
    { name: 'lockgranted', type: 'timestamp without time zone', length: null, null: 'YES' },
    { name: 'lockedby', type: 'character varying', length: 255, null: 'YES' },
  ])
  expect(
    await sql(
      on,
      "SELECT conname FROM pg_constraint WHERE conrelid = 'databasechangeloglock'::regclass AND contype = 'p'",
    ),
  ).toEqual([{ conname: 'databasechangeloglock_pkey' }])
  expect(await rows(on)).toEqual([{ id: 1, locked: false, lockgranted: null, lockedby: null }])
  expect(
    await sql(
      on,
      'SELECT orderexecuted, id, exectype, liquibase FROM databasechangelog ORDER BY orderexecuted LIMIT 2',
    ),
  ).toEqual([
    { orderexecuted: 1, id: '5.0-users', exectype: 'EXECUTED', liquibase: '4.29.2' },
    { orderexecuted: 2, id: '5.0-projects', exectype: 'EXECUTED', liquibase: '4.29.2' },
  ])
  const told = service.log()
  expect(told).toMatch(
    new RegExp(
      String.raw`lockservice +: Successfully acquired change log lock\n` +
        String.raw`[\s\S]*lockservice +: Successfully released change log lock\n`,
    ),
  )
  expect(
    await sql(
      on,
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    ),
  ).toEqual([{ name: 'PostgreSQL JDBC Driver' }])
})

test('uses the schema and the application name of its address', async () => {
  const on = await deployment()
  await sql(on, `CREATE SCHEMA "Test ops" AUTHORIZATION ${on.settings['SPRING_DATASOURCE_USERNAME']}`)
  const url = `${on.settings['SPRING_DATASOURCE_URL']}?currentSchema=%22Test%20ops%22&ApplicationName=testops-service`
  const service = await startService({ ...on.settings, SPRING_DATASOURCE_URL: url })
  expect(service.log()).toContain('Set default schema name to "Test ops"')
  expect(await sql(on, 'SELECT locked FROM "Test ops".databasechangeloglock')).toEqual([{ locked: false }])
  expect(
    await sql(
      on,
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'testops-service' AND datname = current_database()`,
    ),
  ).not.toEqual([{ count: 0 }])
})

test('never asks for the lock where nothing is pending', async () => {
  const on = await migrated()
  await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone (10.0.0.1)', lockgranted = now()")
  const service = await startService(on.settings)
  expect(service.log()).toContain('Database is up to date, no changesets to execute')
  expect(service.log()).not.toContain('change log lock')
  expect((await rows(on))[0]!.locked).toBe(true)
})

describe('a row that is not free', () => {
  test('is waited for, then the start fails, and the row stays', async () => {
    const on = await migrated()
    await sql(
      on,
      "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = " +
        "'2026-11-21 02:12:44.5'",
    )
    const before = await rows(on)
    const child = await spawnService(programs.service, on.settings, pending)
    await until('waiting', () => child.output().includes('Waiting for changelog lock....'))
    const waiters =
      "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND query = 'SHOW SEARCH_PATH'"
    // it asks for the row again and again, and at that moment its last statement is another one
    await expect.poll(async () => sql(on, waiters), { interval: 20 }).toEqual([{ state: 'idle in transaction' }])
    expect(await child.ended).toEqual({ code: 1, signal: null })
    expect(child.output().match(/Waiting for changelog lock\.{4}\n/g)!.length).toBeGreaterThanOrEqual(3)
    expect(child.output()).toContain(
      'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by pod-7 (10.0.0.1) ' +
        'since 11/21/26, 2:12 AM\n\tat liquibase.lockservice.StandardLockService.waitForLock',
    )
    expect(child.output()).not.toContain('Successfully released')
    expect(await rows(on)).toEqual(before)
  })

  test('is released by a waiter before 4.29.2, which never held it', async () => {
    const on = await migrated()
    await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = now()")
    const child = await spawnService(programs.service, on.settings, { ...pending, liquibase: '4.28.0' })
    expect(await child.ended).toEqual({ code: 1, signal: null })
    expect(child.output()).toMatch(
      new RegExp(
        String.raw`Waiting for changelog lock\.{4}\n[^\n]*Successfully released change log lock\n` +
          String.raw`[\s\S]*Could not acquire change log lock\.`,
      ),
    )
    expect(child.output()).not.toContain('Successfully acquired')
    expect(await rows(on)).toEqual([{ id: 1, locked: false, lockgranted: null, lockedby: null }])
  })

  test('is released before 4.29.2 by a service that has nothing to do', async () => {
    const on = await migrated()
    await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = now()")
    const service = await startService(on.settings, { liquibase: '4.28.0' })
    expect(service.log()).toMatch(/no changesets to execute\n[\s\S]*Successfully released change log lock\n/)
    expect(await rows(on)).toEqual([{ id: 1, locked: false, lockgranted: null, lockedby: null }])
  })

  test('without a date kills the waiter with a NullPointerException', async () => {
    const on = await migrated()
    await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = null")
    await expect(startService(on.settings, pending)).rejects.toThrow(
      'java.lang.NullPointerException: Cannot invoke "java.util.Date.getTime()" because "lockGranted" is null',
    )
  })

  test('is taken as soon as it is free', async () => {
    const on = await migrated()
    await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = now()")
    const starting = startService({ ...on.settings, LIQUIBASE_CHANGELOGLOCK_WAIT_TIME_IN_MINUTES: '1' }, pending)
    setTimeout(
      () => void sql(on, 'UPDATE databasechangeloglock SET locked = false, lockedby = null, lockgranted = null'),
      400,
    )
    expect((await starting).log()).toMatch(/Waiting for changelog lock\.{4}[\s\S]*Successfully acquired/)
  })
})

describe('rows that Liquibase does not expect', () => {
  test('none at all: the row is made again', async () => {
    const on = await migrated()
    await sql(on, 'DELETE FROM databasechangeloglock')
    await startService(on.settings, pending)
    expect(await rows(on)).toEqual([{ id: 1, locked: false, lockgranted: null, lockedby: null }])
  })

  test('only another one: the start fails', async () => {
    const on = await migrated()
    await sql(on, 'UPDATE databasechangeloglock SET id = 2')
    await expect(startService(on.settings, pending)).rejects.toThrow(
      /Expected single row from liquibase\.statement\.core\.SelectFromDatabaseChangeLogLockStatement@\w+ but got 0/,
    )
  })

  test('a second one is ignored', async () => {
    const on = await migrated()
    await sql(on, "INSERT INTO databasechangeloglock VALUES (2, true, now(), 'other (10.0.0.2)')")
    await startService(on.settings, pending)
    expect((await rows(on)).map(({ id, locked }) => [id, locked])).toEqual([
      [1, false],
      [2, true],
    ])
  })

  test('a table in another schema is ignored', async () => {
    const on = await deployment()
    await sql(
      on,
      `CREATE SCHEMA old; CREATE TABLE old.databasechangeloglock (id int PRIMARY KEY, locked boolean);
       INSERT INTO old.databasechangeloglock VALUES (1, true)`,
    )
    expect((await startService(on.settings)).log()).toContain('Successfully released change log lock')
  })
})

describe('a holder', () => {
  test('that is killed leaves the row, in the time of its JVM, and no session', async () => {
    const on = await migrated()
    const port = String(await freePort())
    const child = await spawnService(
      programs.service,
      { ...on.settings, TZ: 'Asia/Tokyo', SERVER_PORT: port },
      { ...slow, hostName: 'pod-8' },
    )
    await until('the lock', async () => (await rows(on))[0]!.locked)
    await until('a change set', () => child.output().includes('Running Changeset'))
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    child.process.kill('SIGKILL')
    await child.ended
    await until(
      'its sessions to end',
      async () =>
        (await sql(on, 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'))
          .length === 0,
    )
    const [row] = await rows(on)
    expect(row!.lockedby).toMatch(/^pod-8 \([0-9a-f.:]+\)$/)
    const ahead = Date.parse(`${row!.lockgranted!.replace(' ', 'T')}Z`) - Date.now()
    expect(Math.abs(ahead - 9 * 3_600_000)).toBeLessThan(60_000)
    await expect(startService(on.settings, pending)).rejects.toThrow(/Currently locked by pod-8 /)
  })

  test('that is stopped by SIGTERM leaves the row too, as a JVM does', async () => {
    const on = await migrated()
    const child = await spawnService(programs.service, on.settings, slow)
    await until('a change set', () => child.output().includes('Running Changeset'))
    child.process.kill('SIGTERM')
    expect(await child.ended).toEqual({ code: 143, signal: null })
    expect((await rows(on))[0]!.locked).toBe(true)
    expect(await sql(on, "SELECT 1 FROM databasechangelog WHERE id LIKE '528u01%'")).toEqual([])
  })

  test('that works for long shows its statements, and finishes', async () => {
    const on = await migrated()
    const work = { migration: { name: '528u02', changeSets: 2, statements: 20, statementMs: 20 } }
    const starting = startService(on.settings, work)
    await until(
      'a session at work',
      async () =>
        (
          await sql(
            on,
            `SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE 'UPDATE tree_data%' AND xact_start IS NOT NULL`,
          )
        ).length > 0,
    )
    expect((await rows(on))[0]!.locked).toBe(true)
    await starting
    expect((await rows(on))[0]!.locked).toBe(false)
    expect(await sql(on, "SELECT id FROM databasechangelog WHERE id LIKE '528u02%' ORDER BY id")).toEqual([
      { id: '528u02-1' },
      { id: '528u02-2' },
    ])
  })

  test('whose change set fails releases the lock', async () => {
    const on = await migrated()
    await sql(on, 'DROP TABLE tree_data')
    await expect(startService(on.settings, pending)).rejects.toThrow(
      'Migration failed for changeset db/changelog/db.changelog-next.yaml::528u01-1::testops:\n' +
        '     Reason: org.postgresql.util.PSQLException: ERROR: relation "tree_data" does not exist',
    )
    expect((await rows(on))[0]!.locked).toBe(false)
  })

  test('whose database goes away fails and leaves the row', async () => {
    const on = await migrated()
    const failed = expect(startService(on.settings, slow)).rejects.toThrow('org.postgresql.util.PSQLException')
    await until('the lock', async () => (await rows(on))[0]!.locked)
    await sql(
      on,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ' +
        'pg_backend_pid()',
    )
    await failed
    expect((await rows(on))[0]!.locked).toBe(true)
  })
})

test('a waiter can be stopped', async () => {
  const on = await migrated()
  await sql(on, "UPDATE databasechangeloglock SET locked = true, lockedby = 'pod-7 (10.0.0.1)', lockgranted = now()")
  const child = await spawnService(
    programs.service,
    { ...on.settings, LIQUIBASE_CHANGELOGLOCK_WAIT_TIME_IN_MINUTES: '5', LIQUIBASE_CHANGELOGLOCK_POLL_RATE: '10' },
    pending,
  )
  await until('waiting', () => child.output().includes('Waiting for changelog lock....'))
  child.process.kill('SIGTERM')
  expect(await child.ended).toEqual({ code: 143, signal: null })
})
