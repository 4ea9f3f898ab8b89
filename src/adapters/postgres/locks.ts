import { AdminError } from '../../core/error.ts'
import type { ChangelogLockRow, ChangelogLockTable } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import type { DatabaseSession, Row } from './session.ts'
import { sql, sqlName } from '../../core/sql-text.ts'

const columns = ['id', 'locked', 'lockgranted', 'lockedby'] as const

/** every table of Liquibase's that this database has, whoever may read it, with the types of its columns */
const tables = `
SELECT n.nspname AS schema, c.oid::text AS oid,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'INSERT') AS writable,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'DELETE') AND has_table_privilege(c.oid, 'INSERT') AS removable,
  pg_table_is_visible(c.oid) AS visible,
  (SELECT json_object_agg(a.attname, a.atttypid::regtype::text) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'databasechangeloglock' AND c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_temp\\_%'
ORDER BY n.nspname LIMIT 50`

/**
 * The change-log locks of all schemas (FIELD-NOTES.md 2). `searchPath`: schemas in which the service looks, as its
 * address names them; null: as this session does. Throws UNEXPECTED_ANSWER where the service's own table is not Liquibase's.
 */
export async function readChangelogLocks(
  session: DatabaseSession,
  searchPath: readonly string[] | null,
): Promise<ChangelogLockTable[]> {
  const found = (await session.read(tables)).map((row) => ({
    schema: text(row, 'schema'),
    readable: row['readable'] === 't',
    writable: row['writable'] === 't',
    removable: row['removable'] === 't',
    visible: row['visible'] === 't',
    columns: JSON.parse(row['columns'] ?? '{}') as Partial<Record<string, string>>,
  }))
  const first = searchPath?.find((schema) => found.some((table) => table.schema === schema))
  const known = found.map((table) => ({ ...table, inSearchPath: searchPath === null ? table.visible : table.schema === first }))
  const strange = known.find((table) => table.inSearchPath && !isLiquibases(table.columns))
  if (strange) {
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `table ${strange.schema}.databasechangeloglock at ${session.peer.where} is not Liquibase's: ` +
        `it lacks ${missing(strange.columns).join(', ')}`,
      [sql`\\d ${sqlName(strange.schema)}.databasechangeloglock   -- typed in psql`],
    )
  }
  const wanted = known.filter((table) => isLiquibases(table.columns))
  const readable = wanted.filter((table) => table.readable)
  const rows = readable.length === 0 ? [] : await session.readAll(readable.map((table) => select(table.schema, table.columns)))
  return wanted.map(({ schema, inSearchPath, readable: mayRead, writable, removable }) => {
    const at = readable.findIndex((table) => table.schema === schema)
    return { schema, inSearchPath, rows: mayRead ? (rows[at] ?? []).map(lockRow) : null, writable, removable }
  })
}

function isLiquibases(types: Partial<Record<string, string>>): boolean {
  return missing(types).length === 0
}

function missing(types: Partial<Record<string, string>>): string[] {
  return columns.filter((column) => types[column] === undefined)
}

function select(schema: string, types: Partial<Record<string, string>>): string {
  // the form of the date must not depend on the role's DateStyle
  const granted = types['lockgranted']?.startsWith('timestamp')
    ? `to_char(lockgranted, 'YYYY-MM-DD HH24:MI:SS.US')`
    : 'lockgranted'
  const quoted = `"${schema.replaceAll('"', '""')}"`
  return (
    `SELECT id::text AS id, locked::text AS locked, ${granted}::text AS lockgranted, lockedby::text AS lockedby ` +
    `FROM ${quoted}.databasechangeloglock ORDER BY id::text <> '${changelogLock.rowId}', 1 LIMIT ${changelogLock.rowsRead}`
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
