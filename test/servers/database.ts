import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { servers } from './servers.ts'

export interface FreshDatabase {
  name: string
  /** Endpoint of an ordinary role that owns the database, as the service's role does */
  endpoint: DatabaseEndpoint
  /** Endpoint of the server's superuser */
  administrator: DatabaseEndpoint
  /** `postgresql://USER:PASSWORD@HOST:PORT/NAME` of `endpoint` */
  url: string
  /** Runs SQL in this database as superuser and returns the rows */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** Creates a role that may only connect, then runs `grants`: statements in which `{role}` stands for its name */
  role(grants?: readonly string[]): Promise<DatabaseEndpoint>
  /** Removes the database with its connections and roles */
  cleanup(): Promise<void>
}

/** Creates a database for the caller alone. `on`: another server than the shared one. */
export async function freshDatabase(on: ServerRecord = servers().postgres): Promise<FreshDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const roles: string[] = []
  const newRole = async (): Promise<DatabaseEndpoint> => {
    const user = `${name}_${roles.length}`
    const password = randomBytes(9).toString('hex')
    await run(on, on.database, `CREATE ROLE ${user} LOGIN PASSWORD '${password}'`)
    roles.push(user)
    return endpointOf(on, name, user, password)
  }
  const endpoint = await newRole()
  // four times as fast as the default
  await run(on, on.database, `CREATE DATABASE ${name} OWNER ${endpoint.user} STRATEGY file_copy`)
  return {
    name,
    endpoint,
    administrator: endpointOf(on, name, on.user, on.password),
    url: `postgresql://${endpoint.user}:${endpoint.password?.reveal()}@${on.host}:${on.port}/${name}`,
    query: (sql, values) => run(on, name, sql, values),
    async role(grants = []) {
      const made = await newRole()
      for (const grant of grants) await run(on, name, grant.replaceAll('{role}', made.user ?? ''))
      return made
    },
    async cleanup() {
      await run(on, on.database, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      for (const role of roles) await run(on, on.database, `DROP ROLE IF EXISTS ${role}`)
    },
  }
}

function endpointOf(server: ServerRecord, database: string, user: string, password: string): DatabaseEndpoint {
  return {
    hosts: [{ host: server.host, port: server.port }],
    database,
    user,
    password: new Secret(password),
    tls: { mode: 'disable', ca: null },
    schema: null,
  }
}

async function run(
  server: ServerRecord,
  database: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({
    host: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database,
  })
  await client.connect()
  try {
    const result = await client.query<Record<string, unknown>>(sql, [...values])
    return result.rows
  } finally {
    await client.end()
  }
}
