import { DatabaseError } from 'pg'
import { codeOf, messageOf } from '../../../core/error.ts'
import type { JdbcAddress } from '../jdbc-url.ts'
import { throwable } from '../log/throwable.ts'
import type { Throwable } from '../log/throwable.ts'

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
export function isConnectionError(error: unknown): boolean {
  // 57P01 to 57P03: the server is stopping or starting; 53300: no free slot
  if (error instanceof DatabaseError) return /^(08...|57P0[123]|53300)$/.test(error.code ?? '')
  return true
}
