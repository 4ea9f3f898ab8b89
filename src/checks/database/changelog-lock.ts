import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy, Severity } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import type { ChangelogLockRow, DatabaseSource, LockTableName, ServiceSource } from '../../core/sources.ts'
import { changelogLock, holderText } from '../../knowledge/lock.ts'
import { byHand } from '../../domain/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { eachDatabase } from '../support/databases.ts'
import { psql } from '../../domain/evidence.ts'
import { listed } from '../../core/format.ts'
import { lockDatabases, waitsElsewhere } from '../../domain/lock/databases.ts'
import { judgeHolder } from '../../domain/lock/holder.ts'
import type { Lack } from '../../domain/lock/holder.ts'
import { askedFor, countingRows, leaveOne, mayNotBeRead, nameOf, showRow, sortOut } from '../../domain/lock/row.ts'
import type { LockTables, LookedFor } from '../../domain/lock/row.ts'
import { lockEvidence, zoneEvidence } from '../../domain/lock/evidence.ts'
import { stepsByHand } from '../../domain/lock/steps.ts'
import type { LockInQuestion } from '../../domain/lock/steps.ts'
import { situationOf, surroundings, untilLogged } from '../../domain/lock/situation.ts'
import type { Surroundings } from '../../domain/lock/situation.ts'
import { had, tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { sql, within } from '../../core/sql-text.ts'

const commands: readonly Suggestion[] = [
  'testops-admin unlock-changelog -d {deployment}',
  byHand('database/changelog-lock'),
]
const release: Remedy = {
  text: 'Release the lock. This can be undone.',
  commands,
}

/**
 * Returns the remedy for a holder that may live. Proof that it has ended comes first: until then, the repair refuses.
 */
function makeSure(lacks: readonly Lack[], lock: LockInQuestion): Remedy {
  const steps = stepsByHand(lacks, lock)
  return {
    text: [...steps.map(({ text }) => text), 'Release the lock only after the process that holds it has ended.'].join(
      ' ',
    ),
    commands: [...steps.map(({ command: it }) => it), ...commands],
  }
}

/** Longest time, in milliseconds, that the repair may wait for the log */
const soonMs = 60_000
/** For a lock so new that the service's log cannot show yet who holds it. The repair waits for that, and may refuse */
const releaseSoon: Remedy = {
  text:
    "The lock is so new that the service's log does not show yet whether the holder is alive. The repair waits for " +
    'that, and refuses if the holder may be alive.',
  commands,
}

const waitForIt: Remedy = {
  text:
    'Wait until the process that holds the lock has ended. If you release the lock now, a second migration can start ' +
    'while the first is still running.',
  commands,
}

/** Returns the command that shows the settings for where the service's Liquibase looks. */
function settingsToCompare(service: ServiceSource | null): Suggestion {
  const files = service?.settingsFiles ?? []
  return files.length === 0 ? '{edit}' : command`grep -nE ${'SPRING_LIQUIBASE_|SPRING_DATASOURCE_URL'} ${files}`
}
const restoreText =
  'Restore the table of the change-log lock to what Liquibase expects: one free row with id 1, in the schema ' +
  'that the service uses.'

function restore(
  { target }: DatabaseSource,
  { own, row, found }: LockTables,
  { user, service }: { user: string | null; service: ServiceSource | null },
): Remedy {
  if (countingRows(own).length > 1) return keepOne(target, user, own)
  const others = own.rows?.some(({ id }) => id !== changelogLock.rowId) ?? false
  const byRepair = row === null || others ? commands.slice(0, 1) : []
  return {
    text: found
      ? restoreText
      : 'Find out which schema the service uses: see `SPRING_LIQUIBASE_LIQUIBASE_SCHEMA`, ' +
        '`SPRING_LIQUIBASE_DEFAULT_SCHEMA`, or `currentSchema` in `SPRING_DATASOURCE_URL`. Do not move the lock ' +
        'table: another program may use it.',
    commands: [...byRepair, ...(found ? [] : [settingsToCompare(service)]), byHand('database/changelog-lock')],
  }
}

function keepOne(target: string, user: string | null, own: LockTableName): Remedy {
  return {
    text:
      'Decide which of the rows with id 1 to keep. Stop the service, delete the others, and restore the primary ' +
      'key.',
    commands: [...leaveOne(target, user, own), byHand('database/changelog-lock')],
    risk: 'A locked row may belong to a running migration. Make sure that the process that holds the lock has ended.',
  }
}

function stray({ schema }: LockTableName): Remedy {
  return {
    text: 'The service does not use this lock table. Release the lock if no other program uses the table.',
    commands: [
      command`testops-admin unlock-changelog -d {deployment} --schema ${schema}`,
      byHand('database/changelog-lock'),
    ],
  }
}

export const changelogLockCheck = defineCheck({
  id: 'database/changelog-lock',
  title: 'change-log lock is free or held by a live migration',
  reads: ['database'],
  wants: ['service', 'logs', 'api'],
  explains: serviceFails,
  async run({ database: databases, service, logs, api }, deployment) {
    const around = await surroundings({ service, logs, api }, deployment)
    const all = await lockDatabases(databases, around)
    return eachDatabase(all, async (database) =>
      judge(database, around, { deployment, service: had(service), isMain: database === all[0] }),
    )
  },
})

/** Judges one database. `isMain` is true for the one that the service's Liquibase uses. */
async function judge(
  database: DatabaseSource,
  around: Surroundings,
  { deployment, service, isMain }: { deployment: Deployment; service: ServiceSource | null; isMain: boolean },
): Promise<Outcome> {
  const looked: LookedFor = { user: around.user, liquibase: isMain ? around.liquibase : null }
  const tables = sortOut(await database.changelogLocks(askedFor(looked)), looked)
  if (tables === null) {
    const reason = `${database.target} has no table ${looked.liquibase?.table ?? changelogLock.table}`
    const elsewhere = isMain
      ? waitsElsewhere(database, around, { looked: reason, evidence: [], service, user: await userOf(database) })
      : null
    return elsewhere ? problem('error', elsewhere.finding, elsewhere.remedy) : { status: 'skipped', reason }
  }
  if (tables.own.rows === null) throw mayNotBeRead(database.target, await userOf(database), tables.own)
  const { row, flaws } = tables
  const severity: Severity = around.up ? 'warning' : 'error'
  if (row?.locked !== true) {
    const free = `${nameOf(tables.own)} at ${database.target} ${row === null ? 'has no row' : 'is free'}`
    const waits = isMain
      ? waitsElsewhere(database, around, {
          looked: free,
          evidence: await evidenceOf(database, tables),
          service,
          user: await userOf(database),
        })
      : null
    const elsewhere = await heldElsewhere(database, tables, around)
    if (waits && row !== null && elsewhere === null) return problem('error', waits.finding, waits.remedy)
    if (flaws.length === 0 && elsewhere === null) return { status: 'ok', detail: free }
    const grave = flaws.some(({ harmless }) => !harmless)
    const message = [...flaws.map((flaw) => flaw.message), ...(elsewhere === null ? [] : [elsewhere.message])].join(
      '; ',
    )
    const finding = { message, evidence: await evidenceOf(database, tables) }
    return problem(
      grave ? severity : 'warning',
      finding,
      elsewhere === null || flaws.length > 0
        ? restore(database, tables, { user: await userOf(database), service })
        : stray(elsewhere),
    )
  }
  const situation = await situationOf(database, row, around)
  const holding = judgeHolder(situation)
  const holder = holderText(row.lockedBy)
  const holds =
    situation.granted === null
      ? `${holder} holds the change-log lock`
      : `${holder} has held the change-log lock since ${situation.granted.text}`
  const odd = flaws.map(({ message }) => message)
  if (holding.holder === 'live' && flaws.every(({ harmless }) => harmless)) {
    const shown = [`${holds} and is alive: ${holding.who}`, ...odd].join('; ')
    // a service that is down is a fault of its own, even while another program migrates
    if (around.status !== null && around.status.state !== 'running') return { status: 'ok', detail: shown }
    const underway = 'a migration of the database is under way'
    return {
      status: 'ok',
      detail: `${underway}: ${shown}`,
      underway: `${underway}: ${holder} holds the change-log lock`,
    }
  }
  const verdict =
    holding.holder === 'live'
      ? `The holder is alive: ${holding.who}`
      : holding.holder === 'dead'
        ? `The holder is dead: ${holding.why.join('; ')}`
        : `Cannot tell whether the holder is alive: ${holding.why.join('; ')}`
  const blocked = situation.waits
    ? 'The service waits for the lock and cannot start'
    : 'If a database change is pending, the service cannot start until the lock is released'
  const consequence = around.up ? 'The service works, but its next migration cannot start' : blocked
  const message = [`${holds}. ${verdict}. ${consequence}`, ...odd].join('; ')
  const user = await userOf(database)
  const evidence = [
    ...(await evidenceOf(database, tables)),
    ...zoneEvidence(row, situation, around, service),
    ...lockEvidence(database, situation, around, service, user),
  ]
  const { granted } = situation
  const isSoon =
    holding.holder === 'unproven' &&
    holding.lacks.every((lack) => lack === 'zone') &&
    (await isToldSoon(row, database, around))
  const since =
    granted !== null && granted.earliest.getTime() === granted.latest.getTime() ? granted.earliest : undefined
  return problem(
    severity,
    { message, evidence },
    countingRows(tables.own).length > 1
      ? keepOne(database.target, user, tables.own)
      : isSoon
        ? releaseSoon
        : holding.holder === 'unproven'
          ? makeSure(holding.lacks, { deployment, target: database.target, user, lockedBy: row.lockedBy })
          : holding.holder === 'live'
            ? waitForIt
            : release,
    since,
  )
}

/** True if the service's log will soon show who holds the lock. */
async function isToldSoon(row: ChangelogLockRow, database: DatabaseSource, around: Surroundings): Promise<boolean> {
  const ms = await untilLogged(row, database, around)
  return ms > 0 && ms <= soonMs
}

function problem(severity: Severity, finding: Finding, remedy: Remedy, since?: Date): Outcome {
  return { status: 'problem', severity, findings: [finding], remedy, ...(since && { since }) }
}

/** Finds a lock in a schema that the service does not use, unless its holder is alive; null if there is none. */
async function heldElsewhere(
  database: DatabaseSource,
  { elsewhere }: LockTables,
  around: Surroundings,
): Promise<({ message: string } & LockTableName) | null> {
  const dead: (LockTableName & { row: ChangelogLockRow })[] = []
  for (const held of elsewhere) {
    const holding = judgeHolder(await situationOf(database, held.row, around))
    if (holding.holder !== 'live') dead.push(held)
  }
  const [first] = dead
  if (!first) return null
  const shown = dead.map(({ row, ...table }) => `${nameOf(table)} (held by ${holderText(row.lockedBy)})`)
  return {
    message:
      `${shown.length === 1 ? 'a change-log lock is held in a schema' : 'change-log locks are held in schemas'} ` +
      `that the service does not use: ${listed(shown)}`,
    schema: first.schema,
    ...(first.table !== undefined && { table: first.table }),
  }
}

async function evidenceOf(database: DatabaseSource, { own, elsewhere }: LockTables): Promise<string[]> {
  const user = await userOf(database)
  const rows = own.rows ?? []
  const shown = rows.length === 0 ? ['(0 rows)'] : rows.slice(0, 5).map(showRow)
  return [
    psql(database.target, user, sql`SELECT id, locked, lockgranted, lockedby FROM ${within(nameOf(own))}`),
    ...shown,
    ...elsewhere.flatMap(({ row, ...table }) => [
      psql(database.target, user, sql`SELECT id, locked, lockgranted, lockedby FROM ${within(nameOf(table))}`),
      showRow(row),
    ]),
  ]
}

/** Returns the user as whom this program uses the database; null if it is unknown. */
async function userOf(database: DatabaseSource): Promise<string | null> {
  return (await tolerant(database.identity()))?.user ?? null
}
