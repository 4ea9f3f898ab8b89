import { STATUS_CODES } from 'node:http'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { DatabaseError } from 'pg'
import { messageOf } from '../../../core/error.ts'
import type { Clock } from '../machine.ts'
import { PoolTimeout, sqlException } from '../database/pool.ts'
import { summary, throwable } from '../log/log.ts'
import type { Throwable } from '../log/log.ts'
import { StoreFailure } from '../sessions/store.ts'
import type { ServiceContext } from './context.ts'

/** Returns the reason phrase of a status: `Not Found` for 404, `Error` for an unknown one. */
export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error'
}

/** Answers with Spring Boot's error body (FIELD-NOTES.md 7). */
export function springError(
  c: Context,
  context: Pick<ServiceContext, 'clock'>,
  status: ContentfulStatusCode,
  message: string,
): Response {
  return c.json(errorBody(context.clock, status, message, c.req.path), status)
}

export function errorBody(
  clock: Clock,
  status: number,
  message: string,
  path: string,
): Readonly<Record<string, string | number>> {
  const timestamp = new Date(clock.now()).toISOString().replace('Z', '+00:00')
  return { timestamp, status, error: reasonPhrase(status), message, path }
}

/** Returns the exception that the service would throw for this error. */
function thrownBy(error: unknown, context: ServiceContext): Throwable {
  if (error instanceof PoolTimeout)
    return throwable(
      'org.springframework.transaction.CannotCreateTransactionException',
      'Could not open JPA EntityManager for transaction',
      [],
      error.thrown,
    )
  if (error instanceof DatabaseError) return sqlException(error, context.settings.database)
  if (error instanceof StoreFailure) return error.thrown
  return throwable('java.lang.IllegalStateException', messageOf(error), [])
}

/** Logs a failed request as the service would. */
export function logFailure(error: unknown, context: ServiceContext): void {
  const thrown = thrownBy(error, context)
  context.log
    .from('nio-8080-exec-1')
    .error(
      'org.apache.catalina.core.ContainerBase.[Tomcat].[localhost].[/].[dispatcherServlet]',
      'Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception ' +
        `[Request processing failed: ${summary(thrown)}] with root cause`,
      thrown,
    )
}
