import type { Compared, DatabaseControl } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import type { ChangelogLockRow, LockTableName } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import { asked, psql, sqlState } from './errors.ts'
import type { DatabaseSession, Row } from './session.ts'
import { sql, sqlName, sqlNameInQuotes } from '../../core/sql-text.ts'

const { id, locked, granted, by } = changelogLock.columns
const ofRow = `WHERE ${id} = ${changelogLock.rowId}`
/** both sides as text in one format, whatever the role's DateStyle and the columns' types */
const grantedText = `to_char(${granted}, 'YYYY-MM-DD HH24:MI:SS.US')`
const sameGranted = `${grantedText} IS NOT DISTINCT FROM $1::text`
const isFree = `${locked} IS FALSE AND ${granted} IS NULL AND ${by} IS NULL`
/** rows as they were read, from the values that `columnsOf` returns */
const seen = 'unnest($1::int[], $2::boolean[], $3::text[], $4::text[]) AS seen (number, held, since, holder)'

const unchanged = new Error('the row has changed since it was read')

interface Change {
  place: LockTableName
  sql: (table: string) => string
  values?: readonly unknown[]
  beforehand?: ((mark: string) => Promise<void>) | undefined
  /** Most rows that it may touch; 1 by default */
  rows?: number
}

/**
 * Returns a control for Liquibase's lock. Each change compares and sets in one transaction (FIELD-NOTES.md 2). Throws
 * FORBIDDEN, TIMED_OUT, UNREACHABLE, REFUSED.
 */
export function databaseControl(session: DatabaseSession, alsoAt: readonly string[]): DatabaseControl {
  const compare = async ({ place, sql, values = [], beforehand, rows }: Change): Promise<Compared> => {
    const change = async (): Promise<void> =>
      session.change(async (run) => {
        if (beforehand) await beforehand((await run('SELECT txid_current()::text AS mark'))[0]?.['mark'] ?? '')
        const found = await run(sql(tableIn(place)), values)
        // Liquibase uses one row; more rows than expected are not ours to change
        if (found.length > (rows ?? 1)) throw manyRows(place, session, found)
        // a transaction that changed nothing must not count as committed
        if (found.length === 0) throw unchanged
      })
    try {
      await asked(session, change)
      return 'set'
    } catch (error) {
      if (error === unchanged) return 'changed'
      throw error instanceof AdminError && sqlState(error.cause) === '42501' ? forbidden(place, session, error) : error
    }
  }
  return {
    target: session.peer.where,
    alsoAt,
    releaseLock: async (place, row, beforehand) =>
      compare({
        place,
        sql: (table) =>
          `UPDATE ${table} SET ${locked} = FALSE, ${granted} = NULL, ${by} = NULL ${ofRow} ` +
          `AND ${sameGranted} AND ${by} IS NOT DISTINCT FROM $2::text AND ${locked} IS NOT DISTINCT FROM ` +
          `$3::boolean RETURNING ${id}`,
        values: [row.lockGranted, row.lockedBy, row.locked],
        beforehand,
      }),
    async hasCommitted(marks) {
      // a number that the server has not reached yet is from another server, or from before a restore
      const status = `CASE WHEN mark < txid_snapshot_xmax(txid_current_snapshot()) THEN txid_status(mark) END`
      const sql = `SELECT 1 AS one FROM unnest(${bigints(marks)}) AS mark WHERE ${status} = 'committed'`
      return (await asked(session, async () => session.read(sql))).length > 0
    },
    restoreLock: async (place, row, setBy) =>
      compare({
        place,
        sql: (table) =>
          `UPDATE ${table} SET ${locked} = $3::boolean, ${granted} = $1::text::timestamp, ${by} = $2::text ` +
          `${ofRow} AND ${isFree} ` +
          `${setLastBy(setBy)} RETURNING ${id}`,
        values: [row.lockGranted, row.lockedBy, row.locked],
      }),
    insertLockRow: async (place, beforehand) =>
      compare({
        place,
        sql: (table) =>
          `INSERT INTO ${table} (${id}, ${locked}) SELECT ${changelogLock.rowId}, FALSE ` +
          `WHERE NOT EXISTS (SELECT 1 FROM ${table} ${ofRow}) RETURNING ${id}`,
        beforehand,
      }),
    deleteLockRow: async (place, setBy) =>
      compare({
        place,
        sql: (table) => `DELETE FROM ${table} ${ofRow} AND ${isFree} ${setLastBy(setBy)} RETURNING ${id}`,
      }),
    removeOtherRows: async (place, rows, beforehand) =>
      compare({
        place,
        sql: (table) =>
          `DELETE FROM ${table} WHERE ${id} <> ${changelogLock.rowId} AND EXISTS (SELECT 1 FROM ${seen} WHERE ` +
          `seen.number = ${table}.${id} ` +
          `AND seen.held = ${table}.${locked} AND seen.since IS NOT DISTINCT FROM ${grantedText} ` +
          `AND seen.holder IS NOT DISTINCT FROM ${table}.${by}) RETURNING ${id}`,
        values: columnsOf(rows),
        beforehand,
        rows: rows.length,
      }),
    restoreOtherRows: async (place, rows) =>
      compare({
        place,
        sql: (table) =>
          `INSERT INTO ${table} (${id}, ${locked}, ${granted}, ${by}) SELECT number, held, since::timestamp, ` +
          `holder FROM ${seen} ` +
          `WHERE number <> ${changelogLock.rowId} AND NOT EXISTS (SELECT 1 FROM ${table} other WHERE ` +
          `other.${id} = seen.number) RETURNING ${id}`,
        values: columnsOf(rows),
        rows: rows.length,
      }),
  }
}

function columnsOf(rows: readonly ChangelogLockRow[]): unknown[] {
  return [
    rows.map((row) => row.id),
    rows.map((row) => row.locked),
    rows.map((row) => row.lockGranted),
    rows.map((row) => row.lockedBy),
  ]
}

function setLastBy(marks: readonly string[] | undefined): string {
  return marks ? `AND xmin::text::bigint = ANY (SELECT mark % 4294967296 FROM unnest(${bigints(marks)}) AS mark)` : ''
}

/** Returns marks as an array in SQL. Leaves out invalid ones, since they come from a journal. */
function bigints(marks: readonly string[]): string {
  return `ARRAY[${marks.filter((mark) => /^\d{1,18}$/.test(mark)).join(', ')}]::bigint[]`
}

function tableIn({ schema, table = changelogLock.table }: LockTableName): string {
  return [schema, table].map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}

function manyRows(
  { schema, table = changelogLock.table }: LockTableName,
  { peer }: DatabaseSession,
  rows: readonly Row[],
): AdminError {
  const which = rows.every((row) => row[id] === String(changelogLock.rowId))
    ? `${rows.length} rows with id ${changelogLock.rowId}`
    : 'duplicate rows'
  return new AdminError(
    'REFUSED',
    `${schema}.${table} at ${peer.where} has ${which} and no primary key. The table was not changed`,
  )
}

/** Suggests the rights to write: the right to read that `databaseFailure` suggests is not enough. */
function forbidden(
  { schema, table = changelogLock.table }: LockTableName,
  { peer, login }: DatabaseSession,
  error: AdminError,
): AdminError {
  const grant = sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ${sqlNameInQuotes(schema)}.${sqlName(table)} TO
    ${sqlNameInQuotes(login.user)}`
  return new AdminError('FORBIDDEN', error.message, [psql(peer, { user: 'postgres' }, login.database, grant)], {
    cause: error.cause,
  })
}
