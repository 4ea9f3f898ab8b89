import { AdminError, messageOf } from '../../core/error.ts'
import { serverNames } from '../servers/index.ts'
import type { ServerRecord } from '../servers/index.ts'

/** Returns the error for a failed connection to one of the lab's servers. */
export function notLetIn({ kind, host, port }: ServerRecord, cause: unknown): AdminError {
  const message = `cannot connect to the lab's ${serverNames[kind]} at ${host}:${port}: ${messageOf(cause)}`
  return new AdminError('UNREACHABLE', message, ['testops-admin lab status', 'testops-admin lab mend'], { cause })
}
