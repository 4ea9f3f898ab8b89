import type { Client } from 'pg'
import type { ServerRecord } from './types.ts'

export interface ClientOptions {
  /** the database, if it differs from the record's */
  database?: string
  connectMs: number
  /** time limit for each query, in milliseconds; none if left out */
  queryMs?: number
}

/** Returns a client of that PostgreSQL as the record's user, not connected yet. */
export async function postgresClient(
  record: ServerRecord,
  { database, connectMs, queryMs }: ClientOptions,
): Promise<Client> {
  const { default: pg } = await import('pg')
  const { host, port, user, password } = record
  return new pg.Client({
    host,
    port,
    user,
    password,
    database: database ?? record.database,
    application_name: 'testops-admin lab',
    connectionTimeoutMillis: connectMs,
    ...(queryMs === undefined ? {} : { query_timeout: queryMs }),
  })
}
