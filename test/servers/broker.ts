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
 * Starts a broker that the caller may stop, fill and configure; its line need not be one that tests share. `packages`:
 * runs it on this machine, with a configuration file here, even if there is Docker.
 */
export async function startBroker(line: RabbitmqLine, way?: 'packages'): Promise<OwnBroker> {
  // inside the folder of this test run, so that it is removed with it if its test is abandoned
  const directory = join(dirname(servers().rabbitmq3.directory), `own-${randomBytes(4).toString('hex')}`)
  const server = await startServer(
    { kind: 'rabbitmq', directory, rabbitmq: { line } },
    { progress: () => undefined, environment: { ...withoutGiven(), ...(way && { TESTOPS_ADMIN_LAB_SERVERS: way }) } },
  )
  return { server, remove: async () => removeServer(server) }
}
