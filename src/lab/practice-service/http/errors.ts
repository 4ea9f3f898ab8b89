import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { DatabaseError } from 'pg'
import { messageOf } from '../../../core/error.ts'
import { sqlException } from '../database/errors.ts'
import { PoolTimeout } from '../database/pool.ts'
import { summary, throwable } from '../log/throwable.ts'
import type { Throwable } from '../log/throwable.ts'
import { StoreFailure } from '../sessions/store.ts'
import type { ServiceContext } from './context.ts'

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  500: 'Internal Server Error',
}

/** Spring Boot's error body (FIELD-NOTES.md 7). */
export function springError(
  c: Context,
  context: Pick<ServiceContext, 'clock'>,
  status: ContentfulStatusCode,
  message: string,
): Response {
  const timestamp = new Date(context.clock.now()).toISOString().replace('Z', '+00:00')
  return c.json({ timestamp, status, error: reasons[status] ?? 'Error', message, path: c.req.path }, status)
}

/** What a request that failed leaves in the log. */
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
