import pg from 'pg'
import { AdminError } from '../../core/error.ts'
import type {
  ChangelogLockRow,
  ChangelogLockTable,
  DatabaseBackend,
  DatabaseConnections,
  LockTablesAsked,
} from '../../core/sources.ts'
import { sql, sqlName } from '../../core/sql-text.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import type { DatabaseSession, Row } from './session.ts'
import { applicationName } from './session.ts'

const columns = ['id', 'locked', 'lockgranted', 'lockedby'] as const

/** every Liquibase table of this database, readable or not, with the types of its columns */
const tablesNamed = (named: string | null): string => {
  const inAnyCase = named === null ? '' : ` OR lower(c.relname) = ${pg.escapeLiteral(named.toLowerCase())}`
  return `
SELECT n.nspname AS schema, c.relname AS name, c.oid::text AS oid,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'UPDATE')
    AND has_table_privilege(c.oid, 'INSERT') AS writable,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'DELETE')
    AND has_table_privilege(c.oid, 'INSERT') AS removable,
  pg_table_is_visible(c.oid) AS visible,
  (SELECT json_object_agg(a.attname, a.atttypid::regtype::text) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE (c.relname = ${pg.escapeLiteral(changelogLock.table)}${inAnyCase})
  AND c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_temp\\_%'
ORDER BY n.nspname LIMIT 50`
}

/** the search path that PostgreSQL has for a role in this database, the strongest setting first */
const pathOfRole = (user: string): string => `
SELECT setting AS path FROM (
  SELECT unnest(s.setconfig) AS setting, s.setrole <> 0 AS of_role, s.setdatabase <> 0 AS of_database
  FROM pg_db_role_setting s
  WHERE (s.setrole = 0 OR s.setrole = (SELECT oid FROM pg_roles WHERE rolname = ${pg.escapeLiteral(user)}))
    AND (s.setdatabase = 0 OR s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))
) settings WHERE setting LIKE 'search_path=%' ORDER BY of_role DESC, of_database DESC LIMIT 1`

/**
 * Reads the change-log locks of all schemas (FIELD-NOTES.md 2). `searchPath` lists the schemas that the service's
 * address names. If it is null, uses PostgreSQL's path for `user`, or this session's. Throws UNEXPECTED_ANSWER if the
 * service's own table is not Liquibase's.
 */
export async function readChangelogLocks(
  session: DatabaseSession,
  searchPath: readonly string[] | null,
  { table: named, user }: LockTablesAsked = { table: null, user: null },
): Promise<ChangelogLockTable[]> {
  const path = searchPath ?? (user === null ? null : await pathOf(session, user))
  const found = (await session.read(tablesNamed(named))).map((row) => ({
    schema: text(row, 'schema'),
    name: text(row, 'name'),
    readable: row['readable'] === 't',
    writable: row['writable'] === 't',
    removable: row['removable'] === 't',
    visible: row['visible'] === 't',
    columns: JSON.parse(row['columns'] ?? '{}') as Partial<Record<string, string>>,
  }))
  const firstOf = (name: string): string | undefined =>
    path?.find((schema) => found.some((table) => table.schema === schema && table.name === name))
  const known = found.map((table) => ({
    ...table,
    inSearchPath: path === null ? table.visible : table.schema === firstOf(table.name),
  }))
  const strange = known.find((table) => table.inSearchPath && !isLiquibases(table.columns))
  if (strange) {
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `table ${strange.schema}.${strange.name} at ${session.peer.where} is not Liquibase's lock table. ` +
        `Missing columns: ${missing(strange.columns).join(', ')}`,
      [sql`\\d ${sqlName(strange.schema)}.${sqlName(strange.name)}   -- typed in psql`],
    )
  }
  const wanted = known.filter((table) => isLiquibases(table.columns))
  const readable = wanted.filter((table) => table.readable)
  const rows = readable.length === 0 ? [] : await session.readAll(readable.map(select))
  return wanted.map(({ schema, name, inSearchPath, readable: mayRead, writable, removable }) => {
    const at = readable.findIndex((table) => table.schema === schema && table.name === name)
    return {
      schema,
      ...(name !== changelogLock.table && { table: name }),
      inSearchPath,
      rows: mayRead ? (rows[at] ?? []).map(lockRow) : null,
      writable,
      removable,
    }
  })
}

function isLiquibases(types: Partial<Record<string, string>>): boolean {
  return missing(types).length === 0
}

function missing(types: Partial<Record<string, string>>): string[] {
  return columns.filter((column) => types[column] === undefined)
}

/** Returns the search path of a role; PostgreSQL's usual one if the role has none, or may not be seen. */
async function pathOf(session: DatabaseSession, user: string): Promise<string[]> {
  const [row] = await session.read(pathOfRole(user))
  const path = row?.['path']?.slice('search_path='.length) ?? '"$user", public'
  return path.split(',').map((one) =>
    one
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace('$user', user),
  )
}

function select({
  schema,
  name,
  columns: types,
}: {
  schema: string
  name: string
  columns: Partial<Record<string, string>>
}): string {
  // the format of the date must not depend on the role's DateStyle
  const granted = types['lockgranted']?.startsWith('timestamp')
    ? `to_char(lockgranted, 'YYYY-MM-DD HH24:MI:SS.US')`
    : 'lockgranted'
  const quoted = [schema, name].map((one) => `"${one.replaceAll('"', '""')}"`).join('.')
  return (
    `SELECT id::text AS id, locked::text AS locked, ${granted}::text AS lockgranted, lockedby::text AS lockedby ` +
    `FROM ${quoted} ORDER BY id::text <> '${changelogLock.rowId}', 1 LIMIT ${changelogLock.rowsRead}`
  )
}

function lockRow(row: Row): ChangelogLockRow {
  return {
    id: Number(row['id']),
    locked: /^(t|true|1|y|yes)$/i.test(row['locked'] ?? ''),
    lockGranted: row['lockgranted'] ?? null,
    lockedBy: row['lockedby'] ?? null,
  }
}

function text(row: Row, column: string): string {
  return row[column] ?? ''
}

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
SELECT pid, usename, application_name, host(client_addr) AS client_addr, client_port, state,
  ${epoch('backend_start')} AS started, ${epoch('xact_start')} AS transaction_started,
  ${epoch('query_start')} AS query_started, left(query, 200) AS query,
  EXISTS (SELECT FROM locks
    WHERE has_table_privilege(usesysid, locks.oid, 'UPDATE')
      OR pg_has_role(usesysid, locks.owner, 'MEMBER')) AS may_lock
FROM pg_stat_activity WHERE datname = current_database() AND ${client} AND ${others}
ORDER BY backend_start NULLS LAST`)
  return rows.map(backend)
}

/** Counts slots in use by clients of all databases, our own included. Throws FORBIDDEN as `readBackends` does. */
export async function readConnections(session: DatabaseSession): Promise<DatabaseConnections> {
  const [settings, users] = await session.readAll([
    `SELECT current_setting('max_connections') AS max, current_setting('superuser_reserved_connections') AS superuser,
      current_setting('reserved_connections', true) AS reserved, count(*) AS used
    FROM pg_stat_activity WHERE ${client}`,
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
