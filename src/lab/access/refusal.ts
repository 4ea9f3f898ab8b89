import { AdminError, messageOf } from '../../core/error.ts'
import { serverNames } from '../servers/index.ts'
import type { ServerRecord } from '../servers/index.ts'

/** What is thrown where a server of the lab's cannot be connected to. */
export function notLetIn({ kind, host, port }: ServerRecord, cause: unknown): AdminError {
  const message = `the lab's ${serverNames[kind]} at ${host}:${port} does not let us in: ${messageOf(cause)}`
  return new AdminError('UNREACHABLE', message, ['testops-admin lab status', 'testops-admin lab mend'], { cause })
}
