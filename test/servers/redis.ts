import { Redis } from 'ioredis'
import type { SessionsEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { servers } from './servers.ts'

export interface FreshRedisDatabase {
  database: number
  endpoint: SessionsEndpoint
  /** `redis://HOST:PORT/NUMBER` */
  url: string
  /** Connected to that database */
  client: Redis
  /** Empties the database and closes the connection */
  cleanup(): Promise<void>
}

/** Provides an empty numbered database for the caller alone. `on`: another server than the shared one. */
export async function freshRedisDatabase(on: ServerRecord = servers().redis): Promise<FreshRedisDatabase> {
  const database = await nextNumber(on)
  const client = connect(on, database)
  await client.flushdb()
  return {
    database,
    endpoint: {
      host: on.host,
      port: on.port,
      database,
      user: null,
      password: on.password ? new Secret(on.password) : null,
      tls: { mode: 'disable', ca: null },
      namespace: null,
      sentinel: null,
      cluster: null,
    },
    url: `redis://${on.host}:${on.port}/${database}`,
    client,
    async cleanup() {
      await client.flushdb()
      await client.quit()
    },
  }
}

/** Counts in the server, because test files run in separate processes. A given server offers its one database. */
async function nextNumber(server: ServerRecord): Promise<number> {
  if (server.way === 'given') return Number(server.database)
  const client = connect(server, 0)
  try {
    return await client.incr('testops-admin-tests:next-database')
  } finally {
    await client.quit()
  }
}

function connect(server: ServerRecord, db: number): Redis {
  return new Redis({
    host: server.host,
    port: server.port,
    db,
    ...(server.password ? { password: server.password } : {}),
  })
}
