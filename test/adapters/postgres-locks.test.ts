import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../servers/index.ts'
import { failureOf } from './failure-of.ts'
import { lockColumns, opened, ownDatabase, placeOf } from './own-database.ts'

describe('odd lock tables', () => {
  const tables = [
    {
      what: 'types of its own',
      columns: `id text, locked text, lockgranted text, lockedby text`,
      rows: `('1', 't', 'yesterday', 'me')`,
      found: [{ id: 1, locked: true, lockGranted: 'yesterday', lockedBy: 'me' }],
    },
    {
      what: 'a time with a zone, and more columns',
      columns: `id int, locked boolean, lockgranted timestamptz, lockedby text, more int`,
      rows: `(1, null, null, null, 5)`,
      found: [{ id: 1, locked: false, lockGranted: null, lockedBy: null }],
    },
  ]
  test.each(tables)('$what', async ({ columns, rows, found }) => {
    const fresh = await ownDatabase()
    await fresh.query(
      `CREATE TABLE databasechangeloglock (${columns});
      INSERT INTO databasechangeloglock VALUES ${rows};
      GRANT SELECT ON databasechangeloglock TO PUBLIC`,
    )
    expect(await (await opened(fresh.endpoint)).changelogLocks()).toEqual([
      { schema: 'public', inSearchPath: true, rows: found, writable: false, removable: false },
    ])
  })

  test('a table of that name that is not Liquibase’s', async () => {
    const fresh = await ownDatabase()
    await fresh.query('CREATE TABLE databasechangeloglock (id int, note text)')
    const source = await opened(fresh.endpoint)
    expect(await failureOf(source.changelogLocks())).toMatch(
      new RegExp(
        String.raw`^UNEXPECTED_ANSWER table public\.databasechangeloglock at .* is not Liquibase's lock table\. ` +
          'Missing columns: locked, lockgranted, lockedby$',
      ),
    )
    await fresh.query('CREATE SCHEMA IF NOT EXISTS aside; ALTER TABLE databasechangeloglock SET SCHEMA aside')
    expect(await source.changelogLocks()).toEqual([])
  })

  test('a schema with quotes, a view, an upper-case name, a partitioned table', async () => {
    const fresh = await ownDatabase()
    await fresh.query(`CREATE SCHEMA "odd ""one";
      CREATE TABLE "odd ""one".databasechangeloglock (${lockColumns});
      CREATE SCHEMA v CREATE VIEW databasechangeloglock AS SELECT 1 AS id;
      CREATE TABLE "DATABASECHANGELOGLOCK" (id int);
      CREATE SCHEMA p CREATE TABLE databasechangeloglock (${lockColumns}) PARTITION BY LIST (id)`)
    const locks = await (await opened(fresh.administrator)).changelogLocks()
    expect(locks).toEqual([
      { schema: 'odd "one', inSearchPath: false, rows: [], writable: true, removable: true },
      { schema: 'p', inSearchPath: false, rows: [], writable: true, removable: true },
    ])
  })

  test('the schema that the service’s address names is where it looks', async () => {
    const fresh = await ownDatabase()
    for (const schema of ['public', 'one', 'two']) {
      await fresh.query(
        `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE ${schema}.databasechangeloglock (${lockColumns})`,
      )
    }
    const source = await opened({ ...fresh.administrator, schema: 'none, two,one' })
    expect(
      (await source.changelogLocks()).filter(({ inSearchPath }) => inSearchPath).map(({ schema }) => schema),
    ).toEqual(['two'])
  })

  test('a table that another session has locked', async () => {
    const fresh = await freshDatabase()
    await fresh.query(`CREATE TABLE databasechangeloglock (${lockColumns})`)
    const { default: pg } = await import('pg')
    const { user, password, database: name } = fresh.administrator
    const client = new pg.Client({
      ...placeOf(fresh),
      user: user ?? '',
      password: password?.reveal() ?? '',
      database: name,
    })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await fresh.cleanup()
    })
    await client.query('BEGIN; LOCK TABLE databasechangeloglock IN ACCESS EXCLUSIVE MODE')
    const source = await opened(fresh.administrator)
    expect(await failureOf(source.changelogLocks())).toMatch(
      new RegExp(
        '^TIMED_OUT PostgreSQL at .* timed out waiting for a lock that another session holds: ' +
          'canceling statement due to lock timeout$',
      ),
    )
    expect((await source.identity()).inRecovery).toBe(false)
  })
})
