import type { Compared, DatabaseControl } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import { databaseFailure, sqlState } from './errors.ts'
import type { DatabaseSession, Row } from './session.ts'

const { id, locked, granted, by } = changelogLock.columns
const ofRow = `WHERE ${id} = ${changelogLock.rowId}`
/** both sides as text in one form, whatever the role's DateStyle and the columns' types */
const sameGranted = `to_char(${granted}, 'YYYY-MM-DD HH24:MI:SS.US') IS NOT DISTINCT FROM $1::text`
const isFree = `${locked} IS FALSE AND ${granted} IS NULL AND ${by} IS NULL`

const unchanged = new Error('the row is not as it was seen')

/** Writes to Liquibase's lock, each by comparing and setting in one transaction (FIELD-NOTES.md 2). Throws FORBIDDEN, TIMED_OUT, UNREACHABLE. */
export function databaseControl(session: DatabaseSession): DatabaseControl {
  const compare = async (
    schema: string,
    sql: (table: string) => string,
    values: readonly unknown[] = [],
    beforehand?: (mark: string) => Promise<void>,
  ): Promise<Compared> => {
    try {
      await session.change(async (run) => {
        if (beforehand) await beforehand((await run('SELECT txid_current()::text AS mark'))[0]?.['mark'] ?? '')
        const found = await run(sql(tableIn(schema)), values)
        // Liquibase goes by the one row; more of them are none of ours
        if (found.length > 1) throw manyRows(schema, session, found)
        // a transaction that has set nothing must not be known as one that came to its end
        if (found.length === 0) throw unchanged
      })
      return 'set'
    } catch (error) {
      if (error === unchanged) return 'changed'
      if (error instanceof AdminError || sqlState(error) === null) throw error
      throw databaseFailure(error, session.peer, session.login)
    }
  }
  return {
    target: session.peer.where,
    releaseLock: async (schema, row, beforehand) =>
      compare(
        schema,
        (table) =>
          `UPDATE ${table} SET ${locked} = FALSE, ${granted} = NULL, ${by} = NULL ${ofRow} ` +
          `AND ${sameGranted} AND ${by} IS NOT DISTINCT FROM $2::text AND ${locked} IS NOT DISTINCT FROM $3::boolean RETURNING ${id}`,
        [row.lockGranted, row.lockedBy, row.locked],
        beforehand,
      ),
    async hasCommitted(marks) {
      // a number that the server has not reached yet is of another server, or of a time before it was restored
      const status = `CASE WHEN mark < txid_snapshot_xmax(txid_current_snapshot()) THEN txid_status(mark) END`
      const rows = await session.read(`SELECT 1 AS one FROM unnest(${bigints(marks)}) AS mark WHERE ${status} = 'committed'`)
      return rows.length > 0
    },
    restoreLock: async (schema, row, setBy) =>
      compare(
        schema,
        (table) =>
          `UPDATE ${table} SET ${locked} = $3::boolean, ${granted} = $1::text::timestamp, ${by} = $2::text ${ofRow} AND ${isFree} ` +
          `${setBy ? `AND xmin::text::bigint = ANY (SELECT mark % 4294967296 FROM unnest(${bigints(setBy)}) AS mark) ` : ''}RETURNING ${id}`,
        [row.lockGranted, row.lockedBy, row.locked],
      ),
    insertLockRow: async (schema) =>
      compare(
        schema,
        (table) =>
          `INSERT INTO ${table} (${id}, ${locked}) SELECT ${changelogLock.rowId}, FALSE ` +
          `WHERE NOT EXISTS (SELECT 1 FROM ${table} ${ofRow}) RETURNING ${id}`,
      ),
    deleteLockRow: async (schema) =>
      compare(schema, (table) => `DELETE FROM ${table} ${ofRow} AND ${isFree} RETURNING ${id}`),
  }
}

/** Marks as a value in SQL: they stood in a journal. */
function bigints(marks: readonly string[]): string {
  return `ARRAY[${marks.filter((mark) => /^\d{1,18}$/.test(mark)).join(', ')}]::bigint[]`
}

function tableIn(schema: string): string {
  return `"${schema.replaceAll('"', '""')}".${changelogLock.table}`
}

function manyRows(schema: string, { peer }: DatabaseSession, rows: readonly Row[]): AdminError {
  return new AdminError(
    'REFUSED',
    `${schema}.${changelogLock.table} at ${peer.where} has ${rows.length} rows with id ${changelogLock.rowId}, and lacks its primary key: nothing was changed`,
  )
}
