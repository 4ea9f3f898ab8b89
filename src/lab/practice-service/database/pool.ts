import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient, QueryResultRow } from 'pg'
import { DatabaseError, Pool } from 'pg'
import { codeOf, messageOf } from '../../../core/error.ts'
import type { JdbcAddress, ServiceSettings } from '../settings.ts'
import type { Log, Throwable } from '../log/log.ts'
import { summary, throwable, StartupFailure } from '../log/log.ts'

const opening = [
  'org.postgresql.core.v3.ConnectionFactoryImpl.openConnectionImpl(ConnectionFactoryImpl.java:352)',
  'org.postgresql.jdbc.PgConnection.<init>(PgConnection.java:273)',
]
const executing = [
  'org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2725)',
  'org.postgresql.jdbc.PgStatement.execute(PgStatement.java:371)',
]

/** Turns an error of the database driver into the exception that pgjdbc would throw. */
export function sqlException(error: unknown, { host, port }: JdbcAddress): Throwable {
  const type = 'org.postgresql.util.PSQLException'
  if (error instanceof DatabaseError) {
    return throwable(
      type,
      `${error.severity ?? 'ERROR'}: ${error.message}`,
      error.severity === 'FATAL' ? opening : executing,
    )
  }
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') {
    const advice =
      'Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections.'
    const message = `Connection to ${host}:${port} refused. ${advice}`
    return throwable(
      type,
      message,
      opening,
      throwable('java.net.ConnectException', 'Connection refused', [
        'java.base/sun.nio.ch.Net.pollConnect(Native Method)',
      ]),
    )
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return throwable(
      type,
      'The connection attempt failed.',
      opening,
      throwable('java.net.UnknownHostException', host, [
        'java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:567)',
      ]),
    )
  }
  if (/timeout/i.test(messageOf(error))) {
    return throwable(
      type,
      'The connection attempt failed.',
      opening,
      throwable('java.net.SocketTimeoutException', 'Connect timed out', []),
    )
  }
  return throwable(
    type,
    'An I/O error occurred while sending to the backend.',
    executing,
    throwable('java.io.EOFException', null, []),
  )
}

/** True if the connection failed, not the statement. */
function isConnectionError(error: unknown): boolean {
  // 57P01 to 57P03: the server is stopping or starting; 53300: no free slot
  if (error instanceof DatabaseError) return /^(08...|57P0[123]|53300)$/.test(error.code ?? '')
  return true
}

const hikari = 'com.zaxxer.hikari.pool.HikariPool'

/** A connection pool that waits and logs as HikariCP does. */
export interface Database {
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** uses one connection for several statements; returns it to the pool afterwards, or drops it if `use` failed */
  session<T>(use: (client: PoolClient) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** No connection became free within HikariCP's time limit. */
export class PoolTimeout extends Error {
  override readonly name = 'PoolTimeout'

  constructor(readonly thrown: Throwable) {
    super(summary(thrown))
  }
}

/** Opens the pool and its first two connections. Throws StartupFailure if that fails, as HikariCP does. */
export async function openDatabase(
  address: ServiceSettings['database'],
  timeZone: string,
  log: Log,
): Promise<Database> {
  const pool = new Pool({
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password.reveal(),
    ssl: address.encrypted ? { rejectUnauthorized: false } : false,
    application_name: address.applicationName,
    options: sessionOptions(timeZone, address.schema),
    max: 10,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: Math.max(250, address.connectionTimeoutMs),
  })
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', (error) => {
    const reason = summary(sqlException(error, address))
    log
      .from('HikariPool-1 housekeeper')
      .warn(
        hikari,
        `HikariPool-1 - Failed to validate connection (${reason}). ` +
          'Possibly consider using a shorter maxLifetime value.',
      )
  })

  log.info('com.zaxxer.hikari.HikariDataSource', 'HikariPool-1 - Starting...')
  try {
    const first = await Promise.all([pool.connect(), pool.connect()])
    for (const client of first) client.release()
  } catch (error) {
    const thrown = sqlException(error, address)
    log.error(hikari, 'HikariPool-1 - Exception during pool initialization.', thrown)
    await pool.end()
    throw new StartupFailure(
      'liquibase',
      throwable(
        'liquibase.exception.DatabaseException',
        summary(thrown),
        ['liquibase.integration.spring.SpringLiquibase.afterPropertiesSet(SpringLiquibase.java:290)'],
        thrown,
      ),
    )
  }
  log.info('com.zaxxer.hikari.HikariDataSource', 'HikariPool-1 - Start completed.')

  let closed = false
  const busy = new Set<PoolClient>()
  const connect = async (): Promise<PoolClient> => {
    const since = Date.now()
    for (;;) {
      try {
        return await pool.connect()
      } catch (error) {
        const waited = Date.now() - since
        if (!isConnectionError(error)) throw error
        if (closed || waited >= address.connectionTimeoutMs)
          throw notAvailable(pool, waited, sqlException(error, address), log)
        await sleep(Math.min(250, Math.max(1, address.connectionTimeoutMs - waited)))
      }
    }
  }
  const session = async <T>(use: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await connect()
    busy.add(client)
    try {
      const result = await use(client)
      client.release()
      return result
    } catch (error) {
      client.release(true)
      throw error
    } finally {
      busy.delete(client)
    }
  }
  return {
    session,
    query: <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) =>
      session(async (client) => (await client.query<Row>(text, values ? [...values] : [])).rows),
    close: async () => {
      if (closed) return
      closed = true
      log.info('com.zaxxer.hikari.HikariDataSource', 'HikariPool-1 - Shutdown initiated...')
      // a waiting statement must not keep the service from stopping
      await Promise.all([...busy].map((client) => client.end().catch(() => undefined)))
      await pool.end()
      log.info('com.zaxxer.hikari.HikariDataSource', 'HikariPool-1 - Shutdown completed.')
    },
  }
}

function notAvailable(pool: Pool, waited: number, cause: Throwable, log: Log): PoolTimeout {
  const { totalCount: total, idleCount: idle, waitingCount: waiting } = pool
  const counts = `total=${total}, active=${total - idle}, idle=${idle}, waiting=${waiting}`
  const message = `HikariPool-1 - Connection is not available, request timed out after ${waited}ms (${counts})`
  log.from('http-nio-exec-1').error('org.hibernate.engine.jdbc.spi.SqlExceptionHelper', message)
  return new PoolTimeout(
    throwable(
      'java.sql.SQLTransientConnectionException',
      message,
      ['com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)'],
      cause,
    ),
  )
}

/** Returns the options that pgjdbc sets on a session: the JVM's time zone (FIELD-NOTES.md 2), its address's schema. */
function sessionOptions(timeZone: string, schema: string | null): string {
  const set = (name: string, value: string): string => `-c ${name}=${value.replace(/([\\ ])/g, '\\$1')}`
  return [set('TimeZone', timeZone), ...(schema === null ? [] : [set('search_path', schema)])].join(' ')
}
