import type { Client } from 'pg'
import { AdminError, messageOf } from '../../core/error.ts'
import { labNames, serversOf, notLetIn } from '../lab.ts'
import type { Lab, LabServers } from '../lab.ts'
import type { ServerRecord } from '../servers/index.ts'
import { postgresClient } from '../servers/postgres-client.ts'

export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

/** Runs `work` on the lab's database, as the server's administrator. Throws UNREACHABLE, FAILED. */
export async function onDatabase<T>(lab: Lab, work: (sql: Sql) => Promise<T>): Promise<T> {
  const servers = await serversOf(lab)
  return connected(servers.postgres, labNames(lab.state, servers).database, work)
}

/** Creates the service's role and database. If they exist, sets the role's password. */
export async function prepareDatabase(lab: Lab, servers: LabServers): Promise<void> {
  const { database, role } = labNames(lab.state, servers)
  await connected(servers.postgres, servers.postgres.database, async (sql) => {
    const found = await sql('SELECT 1 FROM pg_roles WHERE rolname = $1', [role])
    const password = literal(lab.state.databasePassword)
    await sql(`${found.length > 0 ? 'ALTER' : 'CREATE'} ROLE ${role} LOGIN PASSWORD ${password}`)
    // a careful operator grants this to the user that diagnoses
    await sql(`GRANT pg_monitor TO ${role}`)
    const [there] = await sql('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (!there) await sql(`CREATE DATABASE ${database} OWNER ${role}`)
  })
}

/** Drops the lab's database and role on a given server. */
export async function dropDatabase(lab: Pick<Lab, 'state'>, servers: LabServers): Promise<void> {
  const { database, role } = labNames(lab.state, servers)
  await connected(servers.postgres, servers.postgres.database, async (sql) => {
    await sql(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    await sql(`DROP ROLE IF EXISTS ${role}`)
  })
}

/** Waits until PostgreSQL answers, since it may still be recovering. Throws UNREACHABLE after 30 s. */
export async function databaseAnswers(servers: LabServers): Promise<void> {
  const { postgres } = servers
  for (const end = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    try {
      return await connected(postgres, postgres.database, async (sql) => void (await sql('SELECT 1')))
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

async function connected<T>(record: ServerRecord, database: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await postgresClient(record, { database, connectMs: 10_000 })
  // losing an idle connection must not end this process
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    throw notLetIn(record, error)
  }
  try {
    return await work((text, values = []) => rows(client, text, values))
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function rows(
  client: Client,
  text: string,
  values: readonly unknown[],
): Promise<readonly Record<string, unknown>[]> {
  try {
    const { rows: found } = await client.query<Record<string, unknown>>(text, [...values])
    return found
  } catch (error) {
    const words = text.trim().split(/\s+/).slice(0, 3).join(' ')
    throw new AdminError('FAILED', `the lab's PostgreSQL refused ${words}: ${messageOf(error)}`, [], { cause: error })
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
