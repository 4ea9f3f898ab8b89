import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase, openDatabases } from '../../src/adapters/postgres/index.ts'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import type { DatabaseSource } from '../../src/core/sources.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { closedPort, cuttableProxy, foreignPeer, listen, silentPeer } from './peers.ts'

const timeoutMs = 2000
const lockColumns = 'id int, locked boolean, lockgranted timestamp, lockedby text'
let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => database.cleanup())

/** Open until the test ends. */
async function opened(endpoint: DatabaseEndpoint): Promise<DatabaseSource> {
  const { source, close } = await openDatabase(endpoint, { timeoutMs })
  onTestFinished(close)
  return source
}

const place = (): { host: string; port: number } => database.endpoint.hosts[0] ?? { host: '', port: 0 }
const at = (name = database.name): string => `PostgreSQL at ${place().host}:${place().port}/${name}`

describe('signing in', () => {
  const refusals: { what: string; change: () => Partial<DatabaseEndpoint>; error: () => string }[] = [
    {
      what: 'a wrong password',
      change: () => ({ password: new Secret('wrong-password') }),
      error: () => `UNAUTHENTICATED ${at()} refused the password of user ${database.endpoint.user}`,
    },
    {
      what: 'no password',
      change: () => ({ password: null }),
      error: () => `UNAUTHENTICATED ${at()} wants a password, and none is configured for user ${database.endpoint.user}`,
    },
    {
      what: 'an unknown user',
      change: () => ({ user: 'nobody' }),
      error: () => `UNAUTHENTICATED ${at()} refused the password of user nobody`,
    },
    {
      what: 'a missing database',
      change: () => ({ database: 'nothing' }),
      error: () => `UNAVAILABLE ${at('nothing')}: database nothing does not exist`,
    },
    {
      what: 'TLS where the server has none',
      change: () => ({ tls: { mode: 'require', ca: null } }),
      error: () => `UNEXPECTED_ANSWER ${at()} offers no TLS, and the configuration demands it`,
    },
  ]
  test.each(refusals)('$what', async ({ change, error }) => {
    const failure = await errorOf(openDatabase({ ...database.endpoint, ...change() }, { timeoutMs }))
    expect(`${failure?.code} ${failure?.message}`).toBe(error())
    expect(failure?.suggestions[0]).toMatch(/^(psql|pg_isready) -h 127\.0\.0\.1 -p \d+/)
    expect(JSON.stringify(failure)).not.toContain('wrong-password')
  })

  test('prefers TLS, and does without', async () => {
    const source = await opened({ ...database.endpoint, tls: { mode: 'prefer', ca: null } })
    expect((await source.identity()).database).toBe(database.name)
  })

  test('does not take a password from the environment', async () => {
    process.env['PGPASSWORD'] = database.endpoint.password?.reveal()
    onTestFinished(() => void delete process.env['PGPASSWORD'])
    expect(await failureOf(openDatabase({ ...database.endpoint, password: null }, { timeoutMs }))).toMatch(/^UNAUTHENTICATED /)
  })

  test('no connection is left for it', async () => {
    const crowded = await freshDatabase()
    onTestFinished(async () => crowded.cleanup())
    await crowded.query(`ALTER DATABASE ${crowded.name} CONNECTION LIMIT 0`)
    const failure = await errorOf(openDatabase(crowded.endpoint, { timeoutMs }))
    expect(failure?.code).toBe('EXHAUSTED')
    expect(failure?.message).toMatch(/ has no free connection: too many connections for database/)
  })

  test('a server that stops answering after the TLS question', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.write('N')))
    const endpoint = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port }], tls: { mode: 'prefer', ca: null } } as const
    expect(await failureOf(openDatabase(endpoint, { timeoutMs: 500 }))).toMatch(
      /^TIMED_OUT .* accepted the connection but did not answer within 0\.5 s$/,
    )
  })

  test('garbage after the TLS question', async () => {
    const port = await listen((socket) => {
      socket.once('data', () => {
        socket.write('N')
        socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
      })
    })
    const endpoint = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port }], tls: { mode: 'prefer', ca: null } } as const
    expect(await failureOf(openDatabase(endpoint, { timeoutMs: 500 }))).toMatch(/^(TIMED_OUT|UNEXPECTED_ANSWER|UNREACHABLE) /)
  })
})

describe('several hosts', () => {
  test('the first that can be used', async () => {
    const hosts = [
      { host: '127.0.0.1', port: await closedPort() },
      { host: '127.0.0.1', port: await foreignPeer('what?') },
      place(),
    ]
    expect((await opened({ ...database.endpoint, hosts })).target).toBe(`127.0.0.1:${place().port}/${database.name}`)
  })

  test('a silent one is not waited for', async () => {
    const started = performance.now()
    await opened({ ...database.endpoint, hosts: [{ host: '127.0.0.1', port: await silentPeer() }, place()] })
    expect(performance.now() - started).toBeLessThan(timeoutMs / 2)
  })

  test('where none can be used, the first one is the reason', async () => {
    const port = await closedPort()
    const hosts = [
      { host: '127.0.0.1', port },
      { host: '127.0.0.1', port: await silentPeer() },
    ]
    expect(await failureOf(openDatabase({ ...database.endpoint, hosts }, { timeoutMs: 500 }))).toMatch(
      new RegExp(`^UNREACHABLE PostgreSQL at 127\\.0\\.0\\.1:${port}/.* refused the connection`),
    )
  })
})

describe('several databases', () => {
  test('equal ones are opened once', async () => {
    const { source, close } = await openDatabases([database.endpoint, database.endpoint, database.administrator], { timeoutMs })
    onTestFinished(close)
    expect(source.length).toBe(2)
  })

  test('one that is down speaks for itself', async () => {
    const down = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: await closedPort() }] }
    const { source, close } = await openDatabases([database.endpoint, down], { timeoutMs })
    onTestFinished(close)
    expect(await failureOf(source[0].connections())).toBe(null)
    expect(await failureOf(source[1]?.connections() ?? Promise.resolve())).toMatch(/^UNREACHABLE .* refused the connection/)
  })

  test('the main one must open', async () => {
    const down = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: await closedPort() }] }
    expect(await failureOf(openDatabases([down, database.endpoint], { timeoutMs }))).toMatch(/^UNREACHABLE /)
  })
})

describe('rights', () => {
  test('a user who may connect and nothing else', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    await fresh.query(
      `CREATE SCHEMA hidden CREATE TABLE databasechangeloglock (${lockColumns})`,
    )
    const source = await opened(await fresh.role())
    await opened(fresh.administrator)
    const other = await opened(fresh.endpoint)
    await other.clock()
    expect(await source.changelogLocks()).toEqual([{ schema: 'hidden', inSearchPath: false, rows: null }])
    expect((await source.storage()).dataDirectory).toBe(null)
    expect(await source.temporarySpace()).toEqual({ writable: true })
    expect((await source.connections()).max).toBe(200)
  })

  test('what others do is hidden, unless the user may see it', async () => {
    const fresh = await freshDatabase()
    const busy = await foreignClient(fresh)
    onTestFinished(async () => {
      await busy.end()
      await fresh.cleanup()
    })
    const hidden = await (await opened(await fresh.role())).backends()
    expect(hidden.complete).toBe(false)
    expect(hidden.backends).toMatchObject([
      { user: fresh.endpoint.user, application: 'busy', startedAt: null, state: null, query: null },
    ])
    const seen = await (await opened(await fresh.role(['GRANT pg_monitor TO {role}']))).backends()
    expect(seen.complete).toBe(true)
    expect(seen.backends).toMatchObject([
      { user: fresh.endpoint.user, application: 'busy', state: 'idle in transaction', query: 'SELECT 42' },
    ])
    expect(seen.backends[0]?.transactionStartedAt).toBeInstanceOf(Date)
  })

  test('pg_stat_activity may not be read', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    await fresh.query('REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
    const source = await opened(fresh.endpoint)
    const failure = await errorOf(source.backends())
    expect(`${failure?.code} ${failure?.message}`).toMatch(
      /^FORBIDDEN .*: user \S+ is not allowed this: permission denied for view pg_stat_activity$/,
    )
    const [{ host, port } = { host: '', port: 0 }] = fresh.endpoint.hosts
    expect(failure?.suggestions).toEqual([
      `psql -h ${host} -p ${port} -U postgres -d ${fresh.endpoint.database} -c 'GRANT SELECT ON pg_stat_activity TO "${fresh.endpoint.user}"'`,
    ])
    // the connection is still good
    expect(await source.changelogLocks()).toEqual([])
  })

  test('it cannot write', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
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
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    await fresh.query(
      `CREATE TABLE databasechangeloglock (${columns});
      INSERT INTO databasechangeloglock VALUES ${rows};
      GRANT SELECT ON databasechangeloglock TO PUBLIC`,
    )
    expect(await (await opened(fresh.endpoint)).changelogLocks()).toEqual([{ schema: 'public', inSearchPath: true, rows: found }])
  })

  test('a table of that name that is not Liquibase’s', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    await fresh.query('CREATE TABLE databasechangeloglock (id int, note text)')
    const source = await opened(fresh.endpoint)
    expect(await failureOf(source.changelogLocks())).toMatch(
      /^UNEXPECTED_ANSWER table public\.databasechangeloglock at .* is not Liquibase's: it lacks locked, lockgranted, lockedby$/,
    )
    await fresh.query('CREATE SCHEMA IF NOT EXISTS aside; ALTER TABLE databasechangeloglock SET SCHEMA aside')
    expect(await source.changelogLocks()).toEqual([])
  })

  test('a schema with quotes, a view, an upper-case name, a partitioned table', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    await fresh.query(`CREATE SCHEMA "odd ""one";
      CREATE TABLE "odd ""one".databasechangeloglock (${lockColumns});
      CREATE SCHEMA v CREATE VIEW databasechangeloglock AS SELECT 1 AS id;
      CREATE TABLE "DATABASECHANGELOGLOCK" (id int);
      CREATE SCHEMA p CREATE TABLE databasechangeloglock (${lockColumns}) PARTITION BY LIST (id)`)
    const locks = await (await opened(fresh.administrator)).changelogLocks()
    expect(locks).toEqual([
      { schema: 'odd "one', inSearchPath: false, rows: [] },
      { schema: 'p', inSearchPath: false, rows: [] },
    ])
  })

  test('the schema that the service’s address names is where it looks', async () => {
    const fresh = await freshDatabase()
    onTestFinished(async () => fresh.cleanup())
    for (const schema of ['public', 'one', 'two']) {
      await fresh.query(
        `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE ${schema}.databasechangeloglock (${lockColumns})`,
      )
    }
    const source = await opened({ ...fresh.administrator, schema: 'none, two,one' })
    expect((await source.changelogLocks()).filter(({ inSearchPath }) => inSearchPath).map(({ schema }) => schema)).toEqual([
      'two',
    ])
  })

  test('a table that another session has locked', async () => {
    const fresh = await freshDatabase()
    await fresh.query(`CREATE TABLE databasechangeloglock (${lockColumns})`)
    const { default: pg } = await import('pg')
    const { user, password, database: name } = fresh.administrator
    const client = new pg.Client({ ...place(), user: user ?? '', password: password?.reveal() ?? '', database: name })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await fresh.cleanup()
    })
    await client.query('BEGIN; LOCK TABLE databasechangeloglock IN ACCESS EXCLUSIVE MODE')
    const source = await opened(fresh.administrator)
    expect(await failureOf(source.changelogLocks())).toMatch(
      /^TIMED_OUT PostgreSQL at .* canceling statement due to lock timeout; another session holds a lock on it$/,
    )
    expect((await source.identity()).inRecovery).toBe(false)
  })
})

describe('a connection that breaks', () => {
  test('is noticed by whoever asks next', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const source = await opened({ ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] })
    await source.clock()
    proxy.cut()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE PostgreSQL at \S+ closed the connection$/)
    expect(await failureOf(source.backends())).toMatch(/^UNREACHABLE PostgreSQL at \S+ closed the connection$/)
  })

  test('while questions are under way fails all of them', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const source = await opened({ ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] })
    const asked = [source.clock(), source.backends(), source.connections()].map(failureOf)
    proxy.cut()
    expect(new Set((await Promise.all(asked)).map((failure) => failure?.split(' ')[0]))).toEqual(new Set(['UNREACHABLE']))
  })

  test('or stalls is given up', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const { source, close } = await openDatabase(
      { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] },
      { timeoutMs: 500 },
    )
    proxy.stall()
    expect(await failureOf(source.clock())).toMatch(/^TIMED_OUT /)
    expect(await failureOf(source.backends())).toMatch(/^TIMED_OUT /)
    await close()
  })

  test('is ended by the server', async () => {
    const source = await opened(database.endpoint)
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'testops-admin' AND datname = current_database()`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await failureOf(source.clock())).toMatch(
      /^UNREACHABLE PostgreSQL at .* accepts no work: terminating connection due to administrator command$/,
    )
  })
})

async function foreignClient(fresh: FreshDatabase): Promise<{ end: () => Promise<void> }> {
  const { default: pg } = await import('pg')
  const { user, password, database: name } = fresh.endpoint
  const client = new pg.Client({
    ...place(),
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
