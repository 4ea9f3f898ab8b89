import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { lockColumns, opened, ownDatabase, placeOf } from './own-database.ts'

describe('rights', () => {
  test('a user who may connect and nothing else', async () => {
    const fresh = await ownDatabase()
    await fresh.query(`CREATE SCHEMA hidden CREATE TABLE databasechangeloglock (${lockColumns})`)
    const source = await opened(await fresh.role())
    await opened(fresh.administrator)
    const other = await opened(fresh.endpoint)
    await other.clock()
    expect(await source.changelogLocks()).toEqual([
      { schema: 'hidden', inSearchPath: false, rows: null, writable: false, removable: false },
    ])
    expect((await source.storage()).dataDirectory).toBe(null)
    expect(await source.temporarySpace()).toEqual({ writable: true })
    const [configured] = await fresh.query("SELECT current_setting('max_connections')::int AS max")
    expect((await source.connections()).max).toBe(configured!['max'])
  })

  test('what others do is hidden, unless the user may see it', async () => {
    const fresh = await freshDatabase()
    const busy = await foreignClient(fresh)
    onTestFinished(async () => {
      await busy.end()
      await fresh.cleanup()
    })
    const hidden = await (await opened(await fresh.role())).backends()
    expect(hidden).toMatchObject([
      { user: fresh.endpoint.user, application: 'busy', startedAt: null, state: null, query: null },
    ])
    const seen = await (await opened(await fresh.role(['GRANT pg_monitor TO {role}']))).backends()
    expect(seen).toMatchObject([
      { user: fresh.endpoint.user, application: 'busy', state: 'idle in transaction', query: 'SELECT 42' },
    ])
    expect(seen[0]?.transactionStartedAt).toBeInstanceOf(Date)
  })

  test('pg_stat_activity may not be read', async () => {
    const fresh = await ownDatabase()
    await fresh.query('REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
    const source = await opened(fresh.endpoint)
    const failure = await errorOf(source.backends())
    expect(`${failure?.code} ${failure?.message}`).toMatch(
      /^FORBIDDEN .*: user \S+ lacks a permission: permission denied for view pg_stat_activity$/,
    )
    const [{ host, port } = { host: '', port: 0 }] = fresh.endpoint.hosts
    expect(failure?.suggestions).toEqual([
      `psql -h ${host} -p ${port} -U postgres -d ${fresh.endpoint.database} -c 'GRANT SELECT ON ` +
        `pg_stat_activity TO "${fresh.endpoint.user}"'`,
    ])
    // the connection is still good
    expect(await source.changelogLocks()).toEqual([])
  })

  test('it cannot write', async () => {
    const fresh = await ownDatabase()
    await fresh.query(
      `CREATE TABLE seen (what text);
      CREATE FUNCTION note() RETURNS text LANGUAGE sql VOLATILE AS $$ INSERT INTO seen VALUES ('x') RETURNING what $$`,
    )
    await fresh.query(`CREATE TABLE public.databasechangeloglock (${lockColumns})`)
    await fresh.query(`INSERT INTO databasechangeloglock VALUES (1, false, null, null)`)
    await fresh.query(
      `ALTER TABLE databasechangeloglock ENABLE ROW LEVEL SECURITY;
      CREATE POLICY p ON databasechangeloglock USING (note() IS NOT NULL)`,
    )
    await fresh.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${fresh.endpoint.user}`)
    const source = await opened(fresh.endpoint)
    expect(await failureOf(source.changelogLocks())).toMatch(/cannot execute INSERT in a read-only transaction/)
    expect(await fresh.query('SELECT * FROM seen')).toEqual([])
  })
})

async function foreignClient(fresh: FreshDatabase): Promise<{ end: () => Promise<void> }> {
  const { default: pg } = await import('pg')
  const { user, password, database: name } = fresh.endpoint
  const client = new pg.Client({
    ...placeOf(fresh),
    user: user ?? '',
    password: password?.reveal() ?? '',
    database: name,
    application_name: 'busy',
  })
  client.on('error', () => undefined)
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT 42')
  return client
}
