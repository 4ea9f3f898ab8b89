import { changelogLock } from '../../knowledge/lock.ts'
import type { DatabaseBackend, DatabaseConnections } from '../../core/sources.ts'
import { applicationName } from './session.ts'
import type { DatabaseSession, Row } from './session.ts'

/** clients only; `backend_type` is hidden for a session whose query this user may not see */
const client = `(backend_type = 'client backend' OR backend_type IS NULL AND usename IS NOT NULL)`
const others = `pid <> pg_backend_pid() AND coalesce(application_name, '') NOT LIKE '${applicationName}%'`
const hidden = '<insufficient privilege>'

/**
 * Reads the sessions of this database except our own. Reads all, since an unseen one may hold the change-log lock.
 * Throws FORBIDDEN if pg_stat_activity may not be read.
 */
export async function readBackends(session: DatabaseSession): Promise<DatabaseBackend[]> {
  const rows = await session.read(`
WITH locks AS MATERIALIZED (
  SELECT c.oid, c.relowner AS owner FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attname = '${changelogLock.columns.granted}' AND NOT a.attisdropped AND c.relkind IN ('r', 'p')
)
SELECT pid, usename, application_name, host(client_addr) AS client_addr, client_port, state, ${epoch('backend_start')} AS started,
  ${epoch('xact_start')} AS transaction_started, ${epoch('query_start')} AS query_started, left(query, 200) AS query,
  EXISTS (SELECT FROM locks WHERE has_table_privilege(usesysid, locks.oid, 'UPDATE') OR pg_has_role(usesysid, locks.owner, 'MEMBER')) AS may_lock
FROM pg_stat_activity WHERE datname = current_database() AND ${client} AND ${others}
ORDER BY backend_start NULLS LAST`)
  return rows.map(backend)
}

/** Counts slots in use by clients of all databases, our own included. Throws FORBIDDEN as `readBackends` does. */
export async function readConnections(session: DatabaseSession): Promise<DatabaseConnections> {
  const [settings, users] = await session.readAll([
    `SELECT current_setting('max_connections') AS max, current_setting('superuser_reserved_connections') AS superuser,
      current_setting('reserved_connections', true) AS reserved, count(*) AS used FROM pg_stat_activity WHERE ${client}`,
    `SELECT usename, coalesce(application_name, '') AS application, count(*) AS count,
      count(*) FILTER (WHERE state LIKE 'idle%') AS idle
    FROM pg_stat_activity WHERE ${client} AND ${others} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ])
  const row = settings?.[0] ?? {}
  return {
    used: Number(row['used']),
    max: Number(row['max']),
    reserved: Number(row['superuser']) + Number(row['reserved'] ?? 0),
    byUser: (users ?? []).map((user) => ({
      user: user['usename'] ?? '',
      application: user['application'] ?? '',
      count: Number(user['count']),
      idle: Number(user['idle']),
    })),
  }
}

function backend(row: Row): DatabaseBackend {
  const query = row['query'] ?? null
  return {
    pid: Number(row['pid']),
    user: row['usename'] ?? null,
    application: row['application_name'] ?? '',
    clientAddress: row['client_addr'] ?? null,
    clientPort: Number(row['client_port'] ?? -1) > 0 ? Number(row['client_port']) : null,
    state: row['state'] ?? null,
    ...(row['may_lock'] === 'f' && { mayLock: false as const }),
    startedAt: date(row['started']),
    transactionStartedAt: date(row['transaction_started']),
    queryStartedAt: date(row['query_started']),
    query: query === hidden ? null : query,
  }
}

/** Returns SQL for a time in milliseconds since 1970, whatever the role's DateStyle and TimeZone. */
export function epoch(column: string): string {
  return `extract(epoch FROM ${column}) * 1000`
}

export function date(milliseconds: string | null | undefined): Date | null {
  return milliseconds === null || milliseconds === undefined ? null : new Date(Number(milliseconds))
}
