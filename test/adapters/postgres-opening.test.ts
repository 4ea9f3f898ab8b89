import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase, openDatabases } from '../../src/adapters/postgres/index.ts'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { opened, ownDatabase, placeOf, timeoutMs } from './own-database.ts'
import { closedPort, foreignPeer, listen, silentPeer } from './peers.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => database.cleanup())

const place = (): { host: string; port: number } => placeOf(database)
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
      error: () =>
        `UNAUTHENTICATED ${at()} asks for a password, but none is configured for user ${database.endpoint.user}`,
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
      error: () => `UNEXPECTED_ANSWER ${at()} does not support TLS, but the configuration requires it`,
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
    expect(await failureOf(openDatabase({ ...database.endpoint, password: null }, { timeoutMs }))).toMatch(
      /^UNAUTHENTICATED /,
    )
  })

  test('no connection is left for it', async () => {
    const crowded = await ownDatabase()
    await crowded.query(`ALTER DATABASE ${crowded.name} CONNECTION LIMIT 0`)
    const failure = await errorOf(openDatabase(crowded.endpoint, { timeoutMs }))
    expect(failure?.code).toBe('EXHAUSTED')
    expect(failure?.message).toMatch(/ has no free connection: too many connections for database/)
  })

  test('a server that stops answering after the TLS question', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.write('N')))
    const endpoint = {
      ...database.endpoint,
      hosts: [{ host: '127.0.0.1', port }],
      tls: { mode: 'prefer', ca: null },
    } as const
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
    const endpoint = {
      ...database.endpoint,
      hosts: [{ host: '127.0.0.1', port }],
      tls: { mode: 'prefer', ca: null },
    } as const
    expect(await failureOf(openDatabase(endpoint, { timeoutMs: 500 }))).toMatch(
      /^(TIMED_OUT|UNEXPECTED_ANSWER|UNREACHABLE) /,
    )
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
    const { source, close } = await openDatabases([database.endpoint, database.endpoint, database.administrator], {
      timeoutMs,
    })
    onTestFinished(close)
    expect(source.length).toBe(2)
  })

  test('one that is down speaks for itself', async () => {
    const down = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: await closedPort() }] }
    const { source, close } = await openDatabases([database.endpoint, down], { timeoutMs })
    onTestFinished(close)
    expect(await failureOf(source[0].connections())).toBe(null)
    expect(await failureOf(source[1]?.connections() ?? Promise.resolve())).toMatch(
      /^UNREACHABLE .* refused the connection/,
    )
  })

  test('the main one must open', async () => {
    const down = { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: await closedPort() }] }
    expect(await failureOf(openDatabases([down, database.endpoint], { timeoutMs }))).toMatch(/^UNREACHABLE /)
  })
})
