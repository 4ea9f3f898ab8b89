import { AdminError } from '../../core/error.ts'
import type { ChangelogLockRow, ChangelogLockTable, LockTableName, LockTablesAsked } from '../../core/sources.ts'
import type { LiquibaseSettings } from '../../knowledge/database.ts'
import { changelogLock, holderText } from '../../knowledge/lock.ts'
import { psql } from '../evidence.ts'
import { listed } from '../../core/format.ts'
import type { Surroundings } from './situation.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { sql, sqlName, sqlNameInQuotes, within } from '../../core/sql-text.ts'
import type { QuotedSql, SqlText } from '../../core/sql-text.ts'

/** A way in which a lock table differs from what Liquibase leaves. */
interface LockFlaw {
  message: string
  /** True if nothing waits because of it; at worst it misleads people */
  harmless: boolean
}

/** The lock tables of one database: the service's own table, its row, and what is odd about them. */
export interface LockTables {
  own: ChangelogLockTable
  row: ChangelogLockRow | null
  /** True if `own` lies where the service looks */
  found: boolean
  flaws: readonly LockFlaw[]
  /** Held rows of tables that the service does not look at */
  elsewhere: readonly (LockTableName & { row: ChangelogLockRow })[]
}

/** Where the service looks for its lock table, as far as it is known. */
export interface LookedFor extends Pick<Surroundings, 'user'> {
  /** Liquibase's settings for the main database only; null if unknown */
  liquibase: LiquibaseSettings | null
}

/** Returns which lock tables to read. */
export function askedFor({ user, liquibase }: LookedFor): LockTablesAsked {
  return { table: liquibase?.table ?? null, user }
}

/**
 * Sorts the lock tables of one database. Only the row with id 1 counts (FIELD-NOTES.md 2). Null if no table has the
 * name in the service's settings.
 */
export function sortOut(all: readonly ChangelogLockTable[], { user, liquibase }: LookedFor): LockTables | null {
  const wanted = (liquibase?.table ?? changelogLock.table).toLowerCase()
  const tables = all.filter(({ table = changelogLock.table }) => table.toLowerCase() === wanted)
  const seen = seenIn(tables, user, liquibase)
  const own = seen ?? tables[0]
  if (!own) return null
  const rows = own.rows ?? []
  const counting = countingRows(own)
  const row = counting.find(({ locked }) => locked) ?? counting[0] ?? null
  const flaws: LockFlaw[] = []
  if (!seen) {
    const schemas = listed(tables.map(({ schema }) => schema))
    const where =
      liquibase !== null && liquibase.shown.length > 0
        ? `but the service's settings say ${listed(liquibase.shown)}`
        : 'and nothing shows that the service uses that schema'
    flaws.push({
      message: `the table ${own.table ?? changelogLock.table} is in schema ${schemas}, ${where}`,
      harmless: false,
    })
  }
  if (own.rows !== null && row === null)
    flaws.push({ message: `${nameOf(own)} has no row with id ${changelogLock.rowId}`, harmless: false })
  if (counting.length > 1) flaws.push({ message: tellTwice(own), harmless: false })
  const extra = rows.filter(({ id }) => id !== changelogLock.rowId)
  if (extra.length > 0) {
    const ids = listed(extra.map(({ id }) => String(id)))
    const message = `${nameOf(own)} has extra rows (id ${ids}), which Liquibase ignores`
    flaws.push({ message, harmless: true })
  }
  if (row?.locked && row.lockGranted === null) {
    const message =
      `${nameOf(own)} has a locked row in which ${changelogLock.columns.granted} ` +
      `${row.lockedBy === null ? `and ${changelogLock.columns.by} are` : 'is'} NULL. Any service that waits for this ` +
      'lock will fail'
    flaws.push({ message, harmless: false })
  } else if (row?.locked && row.lockedBy === null) {
    flaws.push({
      message: `${nameOf(own)} has a locked row in which ${changelogLock.columns.by} is NULL`,
      harmless: false,
    })
  }
  const elsewhere = tables
    .filter((table) => table !== own)
    .flatMap(({ schema, table, rows: others }) =>
      (others ?? [])
        .filter(({ id, locked }) => locked && id === changelogLock.rowId)
        .map((held) => ({ schema, ...(table !== undefined && { table }), row: held })),
    )
  return { own, row, found: seen !== undefined, flaws, elsewhere }
}

/** Returns the table that the service's Liquibase finds first; undefined if none is known. */
function seenIn(
  tables: readonly ChangelogLockTable[],
  user: string | null,
  liquibase: LiquibaseSettings | null,
): ChangelogLockTable | undefined {
  const isIn = (schema: string) => (table: ChangelogLockTable) =>
    table.schema === schema || table.schema === schema.toLowerCase()
  if (liquibase?.schema) return tables.find(isIn(liquibase.schema))
  if (liquibase?.searchPath)
    return liquibase.searchPath.map((schema) => tables.find(isIn(schema))).find((table) => table !== undefined)
  return tables.find(({ inSearchPath }) => inSearchPath) ?? tables.find(({ schema }) => schema === user)
}

/** Returns the rows that Liquibase reads: one, as long as the table has its primary key. */
export function countingRows({ rows }: ChangelogLockTable): readonly ChangelogLockRow[] {
  return (rows ?? []).filter(({ id }) => id === changelogLock.rowId)
}

/** Says that several rows have the lock's id. `target`: given if the reader does not see which database it is about. */
export function tellTwice(own: ChangelogLockTable, target?: string): string {
  return (
    `${nameOf(own)}${target === undefined ? '' : ` at ${target}`} has ${countingRows(own).length} rows with id ` +
    `${changelogLock.rowId}, because it has no primary key. Even Liquibase cannot tell which of them is the lock`
  )
}

/** Returns the commands that leave one of several rows with the same id. */
export function leaveOne(target: string, user: string | null, own: LockTableName): ShellCommand[] {
  return [
    psql(target, user, sql`SELECT ctid, * FROM ${within(nameOf(own))}`),
    psql(target, user, sql`DELETE FROM ${within(nameOf(own))} WHERE ctid = ${within("'…'")}`),
    psql(
      target,
      user,
      sql`ALTER TABLE ${within(nameOf(own))} ADD CONSTRAINT ${sqlName(`${own.table ?? changelogLock.table}_pkey`)}
        PRIMARY KEY (${sqlName(changelogLock.columns.id)})`,
    ),
  ]
}

/** Returns the table's name with its schema, as SQL takes it. */
export function nameOf({ schema, table = changelogLock.table }: LockTableName): QuotedSql {
  return sql`${sqlName(schema)}.${sqlName(table)}`
}

/** Formats a row as psql shows it. */
export function showRow({ id, locked, lockGranted, lockedBy }: ChangelogLockRow): string {
  return [id, locked ? 't' : 'f', lockGranted ?? 'null', lockedBy === null ? 'null' : holderText(lockedBy)].join(' | ')
}

/** Returns FORBIDDEN for a table that cannot be read. `user`: the database user of this program; null if unknown. */
export function mayNotBeRead(target: string, user: string | null, table: LockTableName): AdminError {
  return new AdminError(
    'FORBIDDEN',
    `${user ?? 'this database user'} has no permission to read ${nameOf(table)} at ${target}`,
    [grantTo(target, user, table, 'SELECT')],
  )
}

/** Returns what a superuser types to grant the user these rights on the table. */
export function grantTo(target: string, user: string | null, table: LockTableName, rights: SqlText): ShellCommand {
  const grantee = user === null ? within('PUBLIC') : sqlNameInQuotes(user)
  return psql(
    target,
    'postgres',
    sql`GRANT USAGE ON SCHEMA ${sqlNameInQuotes(table.schema)} TO ${grantee}; GRANT ${within(rights)} ON
      ${within(nameOf(table))} TO ${grantee}`,
  )
}
