import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { listed } from '../../core/format.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type {
  ChangelogLockRow,
  ChangelogLockTable,
  DatabaseIdentity,
  DatabaseSource,
  ServiceSource,
} from '../../core/sources.ts'
import { sql, within } from '../../core/sql-text.ts'
import { typed } from '../../core/typed.ts'
import { psql } from '../../domain/evidence.ts'
import { lockEvidence, zoneEvidence } from '../../domain/lock/evidence.ts'
import type { LockHolding } from '../../domain/lock/holder.ts'
import { judgeHolder } from '../../domain/lock/holder.ts'
import type { LockTables, LookedFor } from '../../domain/lock/row.ts'
import {
  countingRows,
  grantTo,
  leaveOne,
  mayNotBeRead,
  nameOf,
  showRow,
  sortOut,
  tellTwice,
} from '../../domain/lock/row.ts'
import type { Surroundings } from '../../domain/lock/situation.ts'
import { situationOf } from '../../domain/lock/situation.ts'
import { stepsByHand } from '../../domain/lock/steps.ts'
import { changelogLock, holderText } from '../../knowledge/lock.ts'

/** Where a lock is held: deployment, database and database user. */
interface HeldAt {
  deployment: Deployment
  database: Pick<DatabaseSource, 'target'>
  identity: Pick<DatabaseIdentity, 'user'>
}

/** Returns why a lock is not simply released, and what would prove that it may be; null if its holder is dead. */
function riskOf(
  holding: LockHolding,
  { lockedBy }: ChangelogLockRow,
  { deployment, database: { target }, identity: { user } }: HeldAt,
): Risk | null {
  switch (holding.holder) {
    case 'dead':
      return null
    case 'live':
      return {
        name: 'live-holder',
        message:
          `the holder is alive: ${holding.who}. If the lock is released now, a second migration can start, and ` +
          'two at the same time can damage the database',
        proof: [
          'Wait until the process that holds the lock has ended. To check whether it is still running:',
          'testops-admin doctor -d {deployment} --only database/changelog-lock',
        ],
      }
    case 'unproven':
      return {
        name: 'unproven-holder',
        message: `cannot tell whether the holder is alive: ${holding.why.join('; ')}`,
        proof: stepsByHand(holding.lacks, {
          deployment,
          target,
          user,
          lockedBy,
        }).flatMap(({ text, command }) => [text, command]),
      }
  }
}

/** What the repair does about the lock of one database. */
export interface Part {
  /** Steps for which the service must be stopped */
  steps: readonly Step[]
  /** Steps that need no stop */
  removals: readonly Step[]
  risks: readonly Risk[]
  evidence: readonly string[]
  notes: readonly string[]
}

/** What a part is made from. */
interface Asked {
  deployment: Deployment
  database: DatabaseSource
  identity: DatabaseIdentity
  /** All tables found in the database; at least one */
  tables: readonly [ChangelogLockTable, ...ChangelogLockTable[]]
  /** The schema that was named; null: where the service looks */
  schema: string | null
  /** Includes what the service's settings say about this database */
  around: Surroundings
  service: ServiceSource | null
  isMain: boolean
}

export const nothing: Part = { steps: [], removals: [], risks: [], evidence: [], notes: [] }

/**
 * Reads one lock and plans its release. Throws REFUSED for a server in recovery or read-only for us, and for a row that
 * exists twice; FORBIDDEN if rights are missing.
 */
export async function partOf(asked: Asked): Promise<Part> {
  const { database, identity, tables, schema, around, isMain } = asked
  const sorted = sortOut(tables, around)
  const own = tables.find((table) => table.schema === schema) ?? sorted?.own
  if (own === undefined) return leftAlone(noTable(database, around))
  const { row, flaws } = sorted !== null && own === sorted.own ? sorted : ofOne(own)
  if (own.rows === null) throw mayNotBeRead(database.target, identity.user, own)
  const isFree = row !== null && !row.locked
  // a further data source may be a standby of the main one, which replicates the row to it
  if (identity.inRecovery && (isMain || !isFree)) throw inRecovery(database)
  if (countingRows(own).length > 1) throw notOne(database, identity, own)
  const select = psql(
    database.target,
    identity.user,
    sql`SELECT id, locked, lockgranted, lockedby FROM ${within(nameOf(own))}`,
  )
  const unneeded = identity.inRecovery ? [] : removalsOf(database, own)
  // a missing right that only the removals need must not delay anything urgent
  const removals = own.removable ? unneeded : []
  const saved = removals.flatMap(({ action }) => (action.kind === 'remove-lock-rows' ? action.rows : []))
  const shown = [
    select,
    ...(own.rows.length === 0 ? ['(0 rows)'] : own.rows.slice(0, Math.max(5, saved.length + 1)).map(showRow)),
  ]
  const odd = [
    ...flaws.map(({ message }) => message),
    ...(sorted !== null && own === sorted.own ? heldElsewhere(sorted) : []),
  ]
  if ((!isFree || removals.length > 0) && identity.readOnly) throw readOnly(database, identity)
  if (isFree ? unneeded.length > removals.length : !own.writable) throw mayNotBeChanged(database, identity, own)
  if (isFree)
    return { ...nothing, removals, evidence: shown, notes: [`${nameOf(own)} at ${database.target} is free`, ...odd] }
  const part = row === null ? await insert(asked, own, shown) : await release(asked, own, row, shown)
  return { ...part, removals, notes: [...part.notes, ...odd] }
}

/** Treats a table that was named by its schema as the only one, so that its place counts as normal. */
function ofOne(own: ChangelogLockTable): LockTables {
  return sortOut([own], {
    user: null,
    liquibase: { table: own.table ?? null, schema: own.schema, searchPath: null, shown: [] },
  })!
}

/** Says that the database has no table of the name in the service's settings, or of the usual name. */
export function noTable({ target }: DatabaseSource, { liquibase }: LookedFor): string {
  const { table, shown = [] } = liquibase ?? {}
  return `${target} has no table ${table ?? changelogLock.table}${table == null ? '' : ` (${listed(shown)})`}`
}

/** Leaves a database unchanged and says why: it must not keep another database's lock from being released. */
export function leftAlone(note: string): Part {
  return { ...nothing, notes: [note] }
}

/** Returns the removal of rows that Liquibase never reads; none if some rows were not read, and so not saved. */
function removalsOf({ target }: DatabaseSource, { schema, table, rows }: ChangelogLockTable): Step[] {
  const others = (rows ?? []).filter(({ id }) => id !== changelogLock.rowId)
  if (others.length === 0 || rows!.length >= changelogLock.rowsRead) return []
  const which =
    others.length === 1
      ? `row with id ${others[0]!.id}`
      : `${others.length} rows whose id is not ${changelogLock.rowId}`
  const place = { schema, ...(table !== undefined && { table }) }
  const action = { kind: 'remove-lock-rows', database: target, ...place, rows: others } as const
  return [
    {
      title:
        `remove the ${which} from ${nameOf(place)} at ${target}: Liquibase never reads ` +
        `${others.length === 1 ? 'this row' : 'these rows'}`,
      action,
      interrupts: false,
    },
  ]
}

/** Plans the insertion of the missing row. It would name a holder; without it, a migration may still be running. */
async function insert(asked: Asked, own: ChangelogLockTable, shown: readonly string[]): Promise<Part> {
  const { database, identity, around, service } = asked
  const nobody = { id: changelogLock.rowId, locked: true, lockGranted: null, lockedBy: null }
  const situation = await situationOf(database, nobody, around)
  const holding = judgeHolder(situation)
  const risk = holding.holder === 'live' && holding.sessions.length > 0 ? riskOf(holding, nobody, asked) : null
  const title =
    `insert an unlocked row with id ${changelogLock.rowId} into ${nameOf(own)} at ${database.target}: Liquibase ` +
    'expects this row'
  const action = {
    kind: 'insert-lock-row',
    database: database.target,
    schema: own.schema,
    ...(own.table !== undefined && { table: own.table }),
  } as const
  const evidence =
    risk === null ? shown : [...shown, ...lockEvidence(database, situation, around, service, identity.user)]
  return { ...nothing, steps: [{ title, action, interrupts: false }], risks: risk === null ? [] : [risk], evidence }
}

async function release(
  asked: Asked,
  own: ChangelogLockTable,
  row: ChangelogLockRow,
  shown: readonly string[],
): Promise<Part> {
  const { database, identity, around, service } = asked
  const situation = await situationOf(database, row, around)
  const holding = judgeHolder(situation)
  const risk = riskOf(holding, row, asked)
  const { locked, lockGranted, lockedBy } = row
  const holder = holderText(lockedBy)
  const held =
    situation.granted === null
      ? 'has held the lock for an unknown time'
      : `has held the lock since ${situation.granted.text}`
  const accepts = holding.holder === 'dead' ? null : (`${holding.holder}-holder` as const)
  const action = {
    kind: 'release-lock',
    database: database.target,
    schema: own.schema,
    ...(own.table !== undefined && { table: own.table }),
    row: { locked, lockGranted, lockedBy },
    accepts,
    ...(holding.holder === 'unproven' && { lacks: [...new Set(holding.lacks)].sort() }),
  } as const
  return {
    ...nothing,
    steps: [
      {
        title: `release the lock in ${nameOf(own)} at ${database.target}, held by ${holder}`,
        action,
        interrupts: false,
      },
    ],
    risks: risk === null ? [] : [risk],
    evidence: [
      ...shown,
      ...zoneEvidence(row, situation, around, service),
      ...lockEvidence(database, situation, around, service, identity.user),
    ],
    notes: [
      `${holder} ${held}`,
      ...(holding.holder === 'dead' ? [`the holder is dead: ${holding.why.join('; ')}`] : []),
    ],
  }
}

function heldElsewhere({ elsewhere }: LockTables): string[] {
  return elsewhere.map(
    ({ row, ...table }) =>
      `${holderText(row.lockedBy)} holds the lock in ${nameOf(table)}, but the service does not use this ` +
      `schema. To release the lock, pass ${typed(['--schema', table.schema])}`,
  )
}

function inRecovery({ target }: DatabaseSource): AdminError {
  return new AdminError(
    'REFUSED',
    `PostgreSQL at ${target} is in recovery and accepts no changes: the server is a standby, or is being restored`,
    [
      psql(target, 'postgres', 'SELECT pg_is_in_recovery()'),
      'in the configuration, set database.url to the primary server',
    ],
  )
}

function notOne({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable): AdminError {
  return new AdminError(
    'REFUSED',
    `${tellTwice(own, target)} (${listed(countingRows(own).map(showRow))})`,
    leaveOne(target, user, own),
  )
}

function mayNotBeChanged({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable): AdminError {
  return new AdminError('FORBIDDEN', `user ${user} has no permission to change ${nameOf(own)} at ${target}`, [
    grantTo(target, user, own, 'SELECT, INSERT, UPDATE, DELETE'),
  ])
}

/** Returns the error for a read-only server. Some are set so while their disk is full or a successor takes over. */
function readOnly({ target }: DatabaseSource, { user }: DatabaseIdentity): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} is read-only for ${user} (default_transaction_read_only)`, [
    psql(
      target,
      user,
      "SELECT source, sourcefile, setting FROM pg_settings WHERE name = 'default_transaction_read_only'",
    ),
  ])
}
