import pg from 'pg'
import { describe } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import type { ChangelogLockRow } from '../../src/core/sources.ts'
import { freshDatabase, servers } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { databaseContract } from './database.ts'

describe('database', () => {
  databaseContract(async ({ locks = {}, client }) => {
    const database = await freshDatabase()
    for (const [schema, rows] of Object.entries(locks)) await makeLockTable(database, schema, rows)
    const clients = await Promise.all(
      Array.from({ length: client ? (client.connections ?? 1) : 0 }, () => connect(database, client!.application)),
    )
    await untilAlone(database, clients.length)
    const opened = await openDatabase(database.endpoint, { timeoutMs: 5000 })
    let closed = false
    return {
      source: opened.source,
      user: database.endpoint.user ?? '',
      async close() {
        await opened.close()
        if (closed) return
        closed = true
        await Promise.all(clients.map((it) => it.end()))
        await database.cleanup()
      },
    }
  })
})

/** Liquibase's own statement (FIELD-NOTES.md 2). */
async function makeLockTable(
  database: FreshDatabase,
  schema: string,
  rows: readonly ChangelogLockRow[] | null,
): Promise<void> {
  const { user } = database.endpoint
  await database.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
  await database.query(
    `CREATE TABLE ${schema}.databasechangeloglock (ID INTEGER NOT NULL, LOCKED BOOLEAN NOT NULL, ` +
      'LOCKGRANTED TIMESTAMP WITHOUT TIME ZONE, LOCKEDBY VARCHAR(255), CONSTRAINT databasechangeloglock_pkey ' +
      'PRIMARY KEY (ID))',
  )
  await database.query(`GRANT USAGE ON SCHEMA ${schema} TO ${user}`)
  if (rows) await database.query(`GRANT SELECT ON ${schema}.databasechangeloglock TO ${user}`)
  for (const { id, locked, lockGranted, lockedBy } of rows ?? []) {
    await database.query(`INSERT INTO ${schema}.databasechangeloglock VALUES ($1, $2, $3, $4)`, [
      id,
      locked,
      lockGranted,
      lockedBy,
    ])
  }
}

async function connect({ endpoint }: FreshDatabase, application: string): Promise<pg.Client> {
  const [at] = endpoint.hosts
  const client = new pg.Client({
    ...at,
    database: endpoint.database,
    user: endpoint.user ?? '',
    password: endpoint.password?.reveal() ?? '',
    application_name: application,
  })
  await client.connect()
  return client
}

/** PostgreSQL ends a process a moment after its client has gone. */
async function untilAlone({ name }: FreshDatabase, clients: number): Promise<void> {
  const { host, port, user, password, database } = servers().postgres
  const client = new pg.Client({ host, port, user, password, database })
  await client.connect()
  try {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const { rows } = await client.query<{ count: string }>(
        'SELECT count(*) FROM pg_stat_activity WHERE datname = $1',
        [name],
      )
      if (Number(rows[0]?.count) <= clients) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  } finally {
    await client.end()
  }
}
