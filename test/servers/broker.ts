import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { removeServer, startServer } from '../../src/lab/servers/index.ts'
import type { RabbitmqLine, ServerRecord } from '../../src/lab/servers/index.ts'
import { withoutGiven } from '../adapters/own-servers.ts'
import { servers } from './servers.ts'

export interface OwnBroker {
  server: ServerRecord
  remove(): Promise<void>
}

/**
 * A broker of the caller's own, which may be stopped, filled and set otherwise; also of a line that the tests do not
 * share. `packages`: with its configuration in a file of this machine, also where there is Docker.
 */
export async function startBroker(line: RabbitmqLine, way?: 'packages'): Promise<OwnBroker> {
  // beside those of the run, with which it is removed where its test was given up
  const directory = join(dirname(servers().rabbitmq3.directory), `own-${randomBytes(4).toString('hex')}`)
  const server = await startServer(
    { kind: 'rabbitmq', directory, rabbitmq: { line } },
    { progress: () => undefined, environment: { ...withoutGiven(), ...(way && { TESTOPS_ADMIN_LAB_SERVERS: way }) } },
  )
  return { server, remove: async () => removeServer(server) }
}
