import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy, Severity } from '../../core/check.ts'
import type { ChangelogLockRow, ChangelogLockTable, DatabaseSource, ServiceSource } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import { byHand } from '../support/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { eachDatabase } from '../support/databases.ts'
import { psql } from '../support/evidence.ts'
import { listed } from '../support/format.ts'
import { judgeHolder } from '../support/lock-holder.ts'
import { countingRows, leaveOne, mayNotBeRead, nameOf, showRow, sortOut } from '../support/lock-row.ts'
import type { LockTables } from '../support/lock-row.ts'
import { lockEvidence, zoneEvidence } from '../support/lock-evidence.ts'
import { situationOf, surroundings } from '../support/lock-situation.ts'
import type { Surroundings } from '../support/lock-situation.ts'
import { had, tolerant } from '../support/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { sql, within } from '../../core/sql-text.ts'

const commands: readonly Suggestion[] = ['testops-admin unlock-changelog -d {deployment}', byHand('database/changelog-lock')]
const release: Remedy = {
  text: 'Release the lock: it is given back only when its holder is shown to be dead, and can be put back.',
  commands,
}
const makeSure: Remedy = {
  text: 'See to it that its holder has ended, then release the lock: whoever still migrates would be disturbed at work.',
  commands,
}
const restoreText = 'Leave the table as Liquibase expects it: one row with id 1, free, where the service looks.'

/** What the repair leaves alone, since others may have a use for it, is done by hand: the table's place. */
function restore({ target }: DatabaseSource, { own, row, found }: LockTables, user: string | null): Remedy {
  if (countingRows(own).length > 1) return keepOne(target, user, own)
  const move = psql(target, user, sql`ALTER TABLE ${within(nameOf(own))} SET SCHEMA public`)
  const others = own.rows?.some(({ id }) => id !== changelogLock.rowId) ?? false
  const byRepair = row === null || others ? commands.slice(0, 1) : []
  return {
    text: `${restoreText}${found ? '' : ' By hand, where nobody else uses it.'}`,
    commands: [...byRepair, ...(found ? [] : [move]), byHand('database/changelog-lock')],
  }
}

function keepOne(target: string, user: string | null, own: ChangelogLockTable): Remedy {
  return {
    text: 'Stop the service, leave one row with id 1, and give the table its primary key back. By hand: which row goes is yours to say.',
    commands: [...leaveOne(target, user, own), byHand('database/changelog-lock')],
    risk: 'a row that is held may be a migration at work: see to it that its holder has ended',
  }
}

function stray(schema: string): Remedy {
  return {
    text: 'The service never looks at that lock: free it where no other program uses that table, or drop a table that is a mere copy.',
    commands: [command`testops-admin unlock-changelog -d {deployment} --schema ${schema}`, byHand('database/changelog-lock')],
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
    return eachDatabase(databases, async (database) => judge(database, around, had(service)))
  },
})

async function judge(database: DatabaseSource, around: Surroundings, service: ServiceSource | null): Promise<Outcome> {
  const [first, ...others] = await database.changelogLocks()
  if (!first) return { status: 'skipped', reason: `${database.target} has no table ${changelogLock.table}` }
  const tables = sortOut([first, ...others], around.user)
  if (tables.own.rows === null) throw mayNotBeRead(database.target, await userOf(database), tables.own)
  const { row, flaws } = tables
  const severity: Severity = around.up ? 'warning' : 'error'
  if (row?.locked !== true) {
    const elsewhere = await heldElsewhere(database, tables, around)
    if (flaws.length === 0 && elsewhere === null)
      return { status: 'ok', detail: `${nameOf(tables.own)} at ${database.target} is free` }
    const grave = flaws.some(({ harmless }) => !harmless)
    const message = [...flaws.map((flaw) => flaw.message), ...(elsewhere === null ? [] : [elsewhere.message])].join('; ')
    const finding = { message, evidence: await evidenceOf(database, tables) }
    return problem(grave ? severity : 'warning', finding, elsewhere === null || flaws.length > 0 ? restore(database, tables, await userOf(database)) : stray(elsewhere.schema))
  }
  const situation = await situationOf(database, row, around)
  const holding = judgeHolder(situation)
  const holder = row.lockedBy ?? 'nobody that is named'
  const since = situation.granted === null ? '' : ` since ${situation.granted.text}`
  const odd = flaws.map(({ message }) => message)
  if (holding.holder === 'live' && flaws.every(({ harmless }) => harmless)) {
    const shown = [`${holder} holds the change-log lock${since} and lives: ${holding.who}`, ...odd].join('; ')
    // a dead service is a fault of its own, whoever else migrates
    if (around.status !== null && around.status.state !== 'running') return { status: 'ok', detail: shown }
    const underway = 'a migration of the database is under way'
    return { status: 'ok', detail: `${underway}: ${shown}`, underway: `${underway}: ${holder} holds the change-log lock` }
  }
  const verdict =
    holding.holder === 'live'
      ? `its holder lives: ${holding.who}`
      : holding.holder === 'dead'
        ? `its holder is dead: ${holding.why.join('; ')}`
        : `whether its holder lives is not shown: ${holding.why.join('; ')}`
  const blocked = situation.waits
    ? 'the service waits for it and cannot start'
    : 'with a change pending, the service cannot start until it is released'
  const consequence = around.up ? 'the service works, and will not get past its next migration' : blocked
  const message = [`${holder} holds the change-log lock${since}; ${verdict}; ${consequence}`, ...odd].join('. ')
  const user = await userOf(database)
  const evidence = [
    ...(await evidenceOf(database, tables)),
    ...zoneEvidence(row, situation, around, service),
    ...lockEvidence(database, situation, around, service, user),
  ]
  return problem(severity, { message, evidence }, countingRows(tables.own).length > 1 ? keepOne(database.target, user, tables.own) : holding.holder === 'dead' ? release : makeSure)
}

function problem(severity: Severity, finding: Finding, remedy: Remedy): Outcome {
  return { status: 'problem', severity, findings: [finding], remedy }
}

/** A held row in a schema where the service does not look matters where nobody is at work on it. */
async function heldElsewhere(
  database: DatabaseSource,
  { elsewhere }: LockTables,
  around: Surroundings,
): Promise<{ message: string; schema: string } | null> {
  const dead: { schema: string; row: ChangelogLockRow }[] = []
  for (const held of elsewhere) {
    const holding = judgeHolder(await situationOf(database, held.row, around))
    if (holding.holder !== 'live') dead.push(held)
  }
  const [first] = dead
  if (!first) return null
  const shown = dead.map(({ schema, row }) => `${nameOf({ schema })} (held by ${row.lockedBy ?? 'nobody that is named'})`)
  return { message: `another table holds a lock, in a schema that the service does not look at: ${listed(shown)}`, schema: first.schema }
}

async function evidenceOf(database: DatabaseSource, { own, elsewhere }: LockTables): Promise<string[]> {
  const user = await userOf(database)
  const rows = own.rows ?? []
  const shown = rows.length === 0 ? ['(0 rows)'] : rows.slice(0, 5).map(showRow)
  return [
    psql(database.target, user, sql`SELECT id, locked, lockgranted, lockedby FROM ${within(nameOf(own))}`),
    ...shown,
    ...elsewhere.flatMap(({ schema, row }) => [
      psql(database.target, user, sql`SELECT id, locked, lockgranted, lockedby FROM ${within(nameOf({ schema }))}`),
      showRow(row),
    ]),
  ]
}

/** As whom this program uses the database. */
async function userOf(database: DatabaseSource): Promise<string | null> {
  return (await tolerant(database.identity()))?.user ?? null
}
