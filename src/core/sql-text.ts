import { onOneLine } from './shell-command.ts'

declare const brand: unique symbol

/**
 * A statement in a command: program text, or made by `sql`, which quotes its values. The lint rule `quoted-commands`
 * accepts nothing else.
 */
export type SqlText = string & Record<never, never>

/** A statement, or a part of one, in which every value is quoted. */
export type QuotedSql = string & { readonly [brand]: 'sql' }

interface Part {
  readonly sql: string
}

/**
 * Makes a statement: keeps the text of the template, and makes each value a literal, except names and parts that are
 * already quoted.
 */
export function sql(texts: TemplateStringsArray, ...values: readonly (string | number | Part)[]): QuotedSql {
  return onOneLine(texts)
    .map((text, at) => text + written(values[at]))
    .join('') as QuotedSql
}

/** Puts a statement into another one unchanged. */
export function within(text: SqlText): Part {
  return { sql: text }
}

/** Returns the name of a schema, a user or a table: bare if SQL reads it the same. */
export function sqlName(name: string): Part {
  return { sql: /^[a-z_][a-z\d_]*$/.test(name) ? name : always(name) }
}

/** Returns a name as `sqlName` does, but never bare: some names would be words of SQL. */
export function sqlNameInQuotes(name: string): Part {
  return { sql: always(name) }
}

function always(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function written(value: string | number | Part | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'object') return value.sql
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}

/**
 * Returns a database name as psql takes it after `-d`. There psql reads a name with `=`, or one like an address, as a
 * whole connection string.
 */
export function databaseWord(name: string): string {
  return /=|^postgres(?:ql)?:\/\//.test(name) ? `dbname='${name.replace(/[\\']/g, '\\$&')}'` : name
}

/** Lists every session of people and programs, the one that has been quiet the longest first. */
export const sessionsText: SqlText =
  'SELECT pid, usename, application_name, client_addr, state, state_change FROM pg_stat_activity WHERE usename ' +
  'IS NOT NULL ORDER BY state_change'

/** Ends one session: PID is typed by hand. */
export const endSessionText: SqlText = 'SELECT pg_terminate_backend(PID)'
