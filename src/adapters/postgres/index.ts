import type { DatabaseEndpoint, Opened } from '../../core/endpoint.ts'
import type { DatabaseControl } from '../../core/controls.ts'
import { once } from '../../core/answers.ts'
import { AdminError } from '../../core/error.ts'
import type { LockOwner, RepairLock } from '../../core/lock.ts'
import type { DatabaseIdentity, DatabaseSource } from '../../core/sources.ts'
import { selectedRowBytes, selectedRows } from '../../core/sources/database.ts'
import { atMost } from '../../core/work.ts'
import { readClock } from '../clock.ts'
import { date, epoch, readBackends, readChangelogLocks, readConnections } from './locks.ts'
import {
  asked,
  closedControl,
  closedDatabase,
  databaseFailure,
  faultOfSelect,
  otherTargets,
  sqlState,
} from './errors.ts'
import { databaseControl } from './control.ts'
import { databaseLock, readOperator } from './repair-lock.ts'
import { DatabaseSession } from './session.ts'
import { statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

/** Milliseconds to wait at most until a connection that is perhaps still being opened is closed */
const closeMs = 250

/**
 * Opens one read-only connection, to the endpoint's first host that is not in recovery. Throws UNREACHABLE, TIMED_OUT,
 * UNAUTHENTICATED, UNAVAILABLE (no such database), EXHAUSTED, UNEXPECTED_ANSWER.
 */
export async function openDatabase(
  endpoint: DatabaseEndpoint,
  options: { timeoutMs: number },
): Promise<Opened<DatabaseSource>> {
  const { session, identity } = await openSession(endpoint, options)
  let other: Promise<DatabaseSession> | null = null
  // of its own: what an operator's check asks keeps no question of ours waiting
  const selecting = once(async () => {
    session.assertOpen()
    return (other = openSession(endpoint, options).then((opened) => opened.session))
  })
  return {
    source: { ...databaseSource(session, identity, endpoint), select: selectOn(selecting) },
    async close() {
      const closing = other?.then(
        async (opened) => opened.close(),
        () => undefined,
      )
      await Promise.all([session.close(), closing && atMost(closeMs, closing, undefined)])
    },
  }
}

/** Opens one writing connection to each of the databases. The first must open, as in `openDatabases`. */
export async function openDatabaseControls(
  endpoints: readonly DatabaseEndpoint[],
  options: { timeoutMs: number },
): Promise<Opened<readonly DatabaseControl[]>> {
  const distinct = distinctEndpoints(endpoints)
  const results = await Promise.allSettled(distinct.map(async (endpoint) => openSession(endpoint, options)))
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.session] : []))
  const close = async (): Promise<void> => {
    await Promise.all(opened.map(async (session) => session.close()))
  }
  const [main] = results
  if (main?.status === 'rejected') {
    await close()
    throw main.reason
  }
  const source = distinct.map((endpoint, index) => {
    const result = results[index]!
    if (result.status === 'rejected') return closedControl(endpoint, result.reason)
    return databaseControl(result.value.session, otherTargets(endpoint, result.value.session.peer.where))
  })
  return { source, close }
}

/** Opens a lock on the main database, on its own connection (DESIGN.md 6.7). Throws as `openDatabase` does. */
export async function openDatabaseLock(
  endpoint: DatabaseEndpoint,
  own: LockOwner,
  options: { timeoutMs: number },
): Promise<Opened<RepairLock>> {
  const { session } = await openSession(endpoint, options)
  return { source: databaseLock(session, own), close: async () => session.close() }
}

async function openSession(
  endpoint: DatabaseEndpoint,
  { timeoutMs }: { timeoutMs: number },
): Promise<{ session: DatabaseSession; identity: DatabaseIdentity }> {
  const others = new AbortController()
  const attempts = endpoint.hosts.map(async (at) => {
    const session = await DatabaseSession.open(endpoint, at, { timeoutMs, signal: others.signal })
    try {
      return { session, identity: await identify(session) }
    } catch (error) {
      await session.close()
      throw databaseFailure(error, session.peer, session.login)
    }
  })
  const { session, identity } = await preferred(attempts, endpoint)
  others.abort()
  return { session, identity }
}

/**
 * Opens all of a deployment's databases, equal ones once. The first must open. If another does not, its methods throw
 * the reason, so that one failed data source does not hide what the others show.
 */
export async function openDatabases(
  endpoints: readonly [DatabaseEndpoint, ...DatabaseEndpoint[]],
  options: { timeoutMs: number },
): Promise<Opened<readonly [DatabaseSource, ...DatabaseSource[]]>> {
  const distinct = distinctEndpoints(endpoints)
  const [main, ...others] = await Promise.allSettled(distinct.map(async (endpoint) => openDatabase(endpoint, options)))
  const opened = [main, ...others].filter((result) => result?.status === 'fulfilled').map((result) => result.value)
  const close = async (): Promise<void> => {
    await Promise.all(opened.map(async (database) => database.close()))
  }
  if (main?.status !== 'fulfilled') {
    await close()
    throw main?.reason
  }
  const rest = distinct.slice(1).map((endpoint, index) => {
    const result = others[index]
    return result?.status === 'fulfilled' ? result.value.source : closedDatabase(endpoint, result?.reason)
  })
  return { source: [main.value.source, ...rest], close }
}

function distinctEndpoints(endpoints: readonly DatabaseEndpoint[]): DatabaseEndpoint[] {
  const byPlace = new Map(
    endpoints.map((endpoint) => [JSON.stringify([endpoint.hosts, endpoint.database, endpoint.user]), endpoint]),
  )
  return [...byPlace.values()]
}

type Attempt = Promise<{ session: DatabaseSession; identity: DatabaseIdentity }>

/** Returns the first primary that answers; else the first standby; else throws the first host's error. */
async function preferred(attempts: readonly Attempt[], endpoint: DatabaseEndpoint): Promise<Awaited<Attempt>> {
  const primary = attempts.map(async (attempt) => {
    const opened = await attempt
    if (opened.identity.inRecovery) throw new Error('in recovery')
    return opened
  })
  const settled = Promise.allSettled(attempts)
  const chosen = await Promise.any(primary).catch(async () => {
    const standby = (await settled).find((result) => result.status === 'fulfilled')
    if (standby) return standby.value
    return attempts[0] ?? Promise.reject(new AdminError('CONFIGURATION', `database ${endpoint.database} has no host`))
  })
  void settled.then(async (results) => {
    const spare = results.filter((result) => result.status === 'fulfilled').map((result) => result.value.session)
    await Promise.all(spare.filter((session) => session !== chosen.session).map(async (session) => session.close()))
  })
  return chosen
}

async function identify(session: DatabaseSession): Promise<DatabaseIdentity> {
  const [row] = await session.read(`
SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_user AS "user",
  current_database() AS database, ${epoch('pg_postmaster_start_time()')} AS started,
  pg_is_in_recovery() AS recovery, pg_backend_pid() AS pid, inet_server_port() AS port,
  current_setting('default_transaction_read_only') AS reading`)
  const startedAt = date(row?.['started'])
  if (!row || !startedAt)
    throw new AdminError('UNEXPECTED_ANSWER', `PostgreSQL at ${session.peer.where} does not report its version`)
  return {
    version: row['version'] ?? '',
    user: row['user'] ?? '',
    database: row['database'] ?? '',
    startedAt,
    inRecovery: row['recovery'] === 't',
    port: row['port'] ? Number(row['port']) : null,
    ...(row['reading'] === 'on' && { readOnly: true as const }),
    pooled: Number(row['pid']) !== session.processId,
  }
}

function databaseSource(
  session: DatabaseSession,
  identity: DatabaseIdentity,
  endpoint: DatabaseEndpoint,
): Omit<DatabaseSource, 'select'> {
  const searchPath =
    endpoint.schema === null
      ? null
      : endpoint.schema.split(',').map((schema) => schema.trim().replace(/^"(.*)"$/, '$1'))
  const ask = async <T>(question: () => Promise<T>): Promise<T> => asked(session, question)
  return {
    target: session.peer.where,
    alsoAt: otherTargets(endpoint, session.peer.where),
    identity: async () => identity,
    clock: async () =>
      ask(async () =>
        readClock(async () => {
          const [row] = await session.read(`SELECT ${epoch('clock_timestamp()')} AS now`)
          return Number(row?.['now'])
        }),
      ),
    changelogLocks: async (wanted) => ask(async () => readChangelogLocks(session, searchPath, wanted)),
    backends: async () => ask(async () => readBackends(session)),
    operator: async () => ask(async () => readOperator(session)),
    connections: async () => ask(async () => readConnections(session)),
    temporarySpace: async () => ask(async () => probeTemporarySpace(session)),
    storage: async () => ask(async () => readStorage(session)),
  }
}

function selectOn(opening: () => Promise<DatabaseSession>): DatabaseSource['select'] {
  return async (statement, values = []) => {
    const session = await opening()
    // inside of another SELECT, nothing but a SELECT is accepted
    const before = `
SELECT CASE WHEN octet_length(line) <= ${selectedRowBytes} THEN line END AS line
FROM (SELECT row_to_json(answer)::text AS line FROM (
`
    const after = `\n) AS answer LIMIT $${values.length + 1}) AS lines`
    const sql = `${before}${statement.replace(/;\s*$/, '')}${after}`
    const lines = await asked(session, async () =>
      session.select(sql, [...values, selectedRows + 1]).catch((error: unknown) => {
        throw faultOfSelect(error, session, { sql, after }) ?? error
      }),
    )
    const rows = lines.slice(0, selectedRows).map(({ line }) => {
      if (typeof line === 'string') return JSON.parse(line) as Readonly<Record<string, unknown>>
      throw new AdminError(
        'UNEXPECTED_ANSWER',
        `PostgreSQL at ${session.peer.where}: a row has more than ${selectedRowBytes} bytes: select fewer columns`,
      )
    })
    return { rows, complete: lines.length <= selectedRows }
  }
}

type Storage = Awaited<ReturnType<DatabaseSource['storage']>>
type Space = Awaited<ReturnType<DatabaseSource['temporarySpace']>>

/**
 * Checks whether PostgreSQL can still write a sort that exceeds its memory to disk. The file is temporary (about 1.4
 * MB), and PostgreSQL removes it. Without a right to write, nothing else shows a full disk.
 */
async function probeTemporarySpace(session: DatabaseSession): Promise<Space> {
  try {
    await session.read('SELECT count(*) FROM generate_series(1, 100000)', { settings: `SET LOCAL work_mem = '64kB'` })
    return { writable: true }
  } catch (error) {
    if (sqlState(error) === '53100' && error instanceof Error) return { writable: false, message: error.message }
    throw error
  }
}

async function readStorage(session: DatabaseSession): Promise<Storage> {
  const [row] = await session.read(`
SELECT pg_database_size(current_database()) AS bytes, host(inet_server_addr()) AS address,
  (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS directory`)
  const directory = row?.['directory'] || null
  const space =
    directory !== null && isHere(session.peer.host, row?.['address'] ?? null) ? await spaceOf(directory) : null
  return {
    databaseBytes: Number(row?.['bytes']),
    dataDirectory: directory,
    freeBytes: space?.free ?? null,
    totalBytes: space?.total ?? null,
  }
}

/** True if the server is on this machine. In a container, its address differs, even if its port is published here. */
function isHere(host: string, serverAddress: string | null): boolean {
  if (host.startsWith('/')) return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? [])
  return serverAddress !== null && own.includes(serverAddress)
}

async function spaceOf(directory: string): Promise<{ free: number; total: number } | null> {
  return statfs(directory).then(
    ({ bavail, blocks, bsize }) => ({ free: bavail * bsize, total: blocks * bsize }),
    () => null,
  )
}
