import { psql } from '../../checks/support/evidence.ts'
import { listed } from '../../checks/support/format.ts'
import { lockEvidence, zoneEvidence } from '../../checks/support/lock-evidence.ts'
import { judgeHolder } from '../../checks/support/lock-holder.ts'
import { nameOf, showRow, sortOut } from '../../checks/support/lock-row.ts'
import type { LockTables } from '../../checks/support/lock-row.ts'
import { situationOf } from '../../checks/support/lock-situation.ts'
import type { Surroundings } from '../../checks/support/lock-situation.ts'
import { AdminError } from '../../core/error.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type { ChangelogLockRow, ChangelogLockTable, DatabaseIdentity, DatabaseSource, ServiceSource } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import { riskOf } from './risk.ts'

/** What the lock of one database needs. */
export interface Part {
  steps: readonly Step[]
  risks: readonly Risk[]
  evidence: readonly string[]
  notes: readonly string[]
}

/** What is asked about each database. */
export interface Asked {
  database: DatabaseSource
  identity: DatabaseIdentity
  /** all of them; at least one */
  tables: readonly [ChangelogLockTable, ...ChangelogLockTable[]]
  /** the schema that was named; null: where the service looks */
  schema: string | null
  around: Surroundings
  service: ServiceSource | null
}

const nothing: Part = { steps: [], risks: [], evidence: [], notes: [] }

/** Reads, and judges. Throws REFUSED for a server in recovery and for a row that is there twice, FORBIDDEN. */
export async function partOf(asked: Asked): Promise<Part> {
  const { database, identity, tables, schema, around } = asked
  const sorted = sortOut(tables, around.user)
  const own = tables.find((table) => table.schema === schema) ?? sorted.own
  const { row, flaws } = own === sorted.own ? sorted : sortOut([own], own.schema)
  if (own.rows === null) throw forbidden(database, identity, own, 'read', 'SELECT')
  if (identity.inRecovery) throw inRecovery(database)
  const twice = own.rows.filter(({ id }) => id === changelogLock.rowId)
  if (twice.length > 1) throw notOne(database, identity, own, twice)
  const select = psql(database.target, identity.user, `SELECT id, locked, lockgranted, lockedby FROM ${nameOf(own)}`)
  const shown = [select, ...(own.rows.length === 0 ? ['(0 rows)'] : own.rows.slice(0, 5).map(showRow))]
  const odd = [...flaws.map(({ message }) => message), ...(own === sorted.own ? heldElsewhere(sorted) : [])]
  if (row !== null && !row.locked)
    return { ...nothing, evidence: shown, notes: [`${nameOf(own)} at ${database.target} is free`, ...odd] }
  if (!own.writable) throw forbidden(database, identity, own, 'change', 'SELECT, INSERT, UPDATE, DELETE')
  if (row !== null) return release(asked, own, row, shown, odd)
  const title = `insert the free row with id ${changelogLock.rowId} that Liquibase expects into ${nameOf(own)} at ${database.target}`
  const action = { kind: 'insert-lock-row', database: database.target, schema: own.schema } as const
  return { ...nothing, steps: [{ title, action, interrupts: false }], evidence: shown, notes: odd }
}

async function release(
  { database, identity, around, service }: Asked,
  own: ChangelogLockTable,
  row: ChangelogLockRow,
  shown: readonly string[],
  odd: readonly string[],
): Promise<Part> {
  const situation = await situationOf(database, row, around)
  const holding = judgeHolder(situation)
  const risk = riskOf(holding, row, identity)
  const { locked, lockGranted, lockedBy } = row
  const holder = lockedBy ?? 'nobody that is named'
  const since = situation.granted === null ? ', since when is not written' : ` since ${situation.granted.text}`
  const accepts = holding.holder === 'dead' ? null : (`${holding.holder}-holder` as const)
  const action = {
    kind: 'release-lock',
    database: database.target,
    schema: own.schema,
    row: { locked, lockGranted, lockedBy },
    accepts,
  } as const
  return {
    steps: [{ title: `release the lock in ${nameOf(own)} at ${database.target}, held by ${holder}`, action, interrupts: false }],
    risks: risk === null ? [] : [risk],
    evidence: [
      ...shown,
      ...zoneEvidence(row, around, service),
      ...lockEvidence(database, situation, around, service, identity.user),
    ],
    notes: [`${holder} holds it${since}`, ...(holding.holder === 'dead' ? [`the holder is dead: ${holding.why.join('; ')}`] : []), ...odd],
  }
}

function heldElsewhere({ elsewhere }: LockTables): string[] {
  return elsewhere.map(
    ({ schema, row }) =>
      `${nameOf({ schema })} is held by ${row.lockedBy ?? 'nobody that is named'}, in a schema that the service does not look at: --schema ${schema} releases that one`,
  )
}

function inRecovery({ target }: DatabaseSource): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} is in recovery: it is a standby, or is being restored, and takes no change`, [
    psql(target, 'postgres', 'SELECT pg_is_in_recovery()'),
    'name the primary in the configuration: database.url',
  ])
}

function notOne({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable, rows: readonly ChangelogLockRow[]): AdminError {
  const message = `${nameOf(own)} at ${target} has ${rows.length} rows with id ${changelogLock.rowId}, and lacks its primary key: which of them counts, Liquibase does not know either`
  return new AdminError('REFUSED', `${message} (${listed(rows.map(showRow))})`, [
    psql(target, user, `SELECT ctid, * FROM ${nameOf(own)}`),
    psql(target, user, `DELETE FROM ${nameOf(own)} WHERE ctid = '…'`),
    psql(target, user, `ALTER TABLE ${nameOf(own)} ADD CONSTRAINT ${changelogLock.table}_pkey PRIMARY KEY (${changelogLock.columns.id})`),
  ])
}

function forbidden(
  { target }: DatabaseSource,
  { user }: DatabaseIdentity,
  { schema }: ChangelogLockTable,
  verb: string,
  rights: string,
): AdminError {
  const grant = `GRANT USAGE ON SCHEMA "${schema}" TO "${user}"; GRANT ${rights} ON ${nameOf({ schema })} TO "${user}"`
  return new AdminError('FORBIDDEN', `${user} may not ${verb} ${nameOf({ schema })} at ${target}`, [psql(target, 'postgres', grant)])
}
