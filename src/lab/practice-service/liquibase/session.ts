import { networkInterfaces } from 'node:os'
import type { PoolClient } from 'pg'

/**
 * Liquibase's connection: auto-commit is off, so a transaction is open from the first statement to COMMIT or ROLLBACK.
 */
export interface LiquibaseSession {
  client: PoolClient
  /** schema that holds Liquibase's tables, quoted where PostgreSQL needs it */
  schema: string
}

export async function openSession(client: PoolClient): Promise<LiquibaseSession> {
  await client.query('BEGIN')
  const { rows } = await client.query<{ name: string | null }>('select quote_ident(current_schema()) as name')
  return { client, schema: rows[0]?.name ?? 'public' }
}

/** Commits, and opens the next transaction as the driver would at the next statement. */
export async function commit({ client }: LiquibaseSession): Promise<void> {
  await client.query('COMMIT')
  await client.query('BEGIN')
}

/**
 * Rolls back, then asks for the search path, as Liquibase does. A waiter is therefore `idle in transaction`
 * (SERVERS.md, PostgreSQL).
 */
export async function rollback({ client }: LiquibaseSession): Promise<void> {
  await client.query('ROLLBACK')
  await client.query('BEGIN')
  await client.query('SHOW SEARCH_PATH')
}

export async function tableExists({ client, schema }: LiquibaseSession, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    `${schema}.${table}`,
  ])
  return rows[0]!.found
}

/** Returns `host (address)`, as Liquibase writes it into LOCKEDBY (FIELD-NOTES.md 2). */
export function lockedBy(hostName: string): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside =
    addresses.find(({ internal, family }) => !internal && family === 'IPv4') ??
    addresses.find(({ internal }) => !internal)
  return `${hostName} (${outside?.address ?? '127.0.0.1'})`
}
