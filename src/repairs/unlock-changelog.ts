import { situationOf, surroundings } from '../checks/support/lock-situation.ts'
import type { Surroundings } from '../checks/support/lock-situation.ts'
import { lockEvidence, zoneEvidence } from '../checks/support/lock-evidence.ts'
import { judgeHolder } from '../checks/support/lock-holder.ts'
import type { LockHolding, LockSituation } from '../checks/support/lock-holder.ts'
import { nameOf, showRow, sortOut } from '../checks/support/lock-row.ts'
import { psql } from '../checks/support/evidence.ts'
import { listed } from '../checks/support/format.ts'
import { had } from '../checks/support/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { ChangelogLockTable, DatabaseIdentity, DatabaseSource, ServiceSource } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'

export interface UnlockOptions {
  /** false: the operator stops and starts the service */
  restart: boolean
  /** of the table, where several schemas have one */
  schema: string | null
}

/** What one database needs. */
interface Part {
  steps: readonly Step[]
  risks: readonly Risk[]
  evidence: readonly string[]
  notes: readonly string[]
}

const nothing: Part = { steps: [], risks: [], evidence: [], notes: [] }

export const unlockChangelog = defineRepair({
  id: 'unlock-changelog',
  title: 'release the change-log lock',
  reads: ['database'],
  wants: ['service', 'logs', 'api'],
  async plan({ database: databases, service, logs, api }, deployment, { restart, schema }: UnlockOptions) {
    const around = await surroundings({ service, logs, api }, deployment)
    const platform = had(service)
    if (restart && service instanceof AdminError) throw withoutService(service)
    const parts: Part[] = []
    const target: Record<string, string> = {}
    for (const database of databases) {
      const identity = await database.identity()
      target[parts.length === 0 ? 'database' : `database ${parts.length + 1}`] = `${database.target}, PostgreSQL ${identity.version}`
      parts.push(await partOf(database, identity, around, platform, schema))
    }
    const changes = parts.flatMap(({ steps }) => steps)
    return {
      target,
      impact: { locksReleased: changes.length, ...(restart && changes.length > 0 && { serviceRestarts: 1 }) },
      evidence: parts.flatMap(({ evidence }) => evidence),
      notes: parts.flatMap(({ notes }) => notes),
      risks: distinct(parts.flatMap(({ risks }) => risks)),
      steps: changes.length === 0 || !restart ? changes : [stopStep(around), ...changes, startStep],
      verifiedBy: ['database/changelog-lock', ...(restart ? ['service/running', 'api/reachable'] : [])],
    }
  },
})

function stopStep({ status }: Surroundings): Step {
  return {
    title: 'stop the service',
    action: { kind: 'stop-service', wasRunning: status?.state === 'running' },
    interrupts: status?.state === 'running',
  }
}

const startStep: Step = {
  title: 'start the service and wait until it answers',
  action: { kind: 'start-service' },
  interrupts: false,
}

async function partOf(
  database: DatabaseSource,
  identity: DatabaseIdentity,
  around: Surroundings,
  service: ServiceSource | null,
  wanted: string | null,
): Promise<Part> {
  const tables = await database.changelogLocks()
  const own = tableOf(tables, wanted, around.user)
  if (own === null) return { ...nothing, notes: [`${database.target} has no table ${changelogLock.table}`] }
  if (own.rows === null) throw forbidden(database, identity, own, 'read', 'SELECT')
  const { row, flaws } = sortOut([own], own.inSearchPath ? around.user : own.schema)
  const select = psql(database.target, identity.user, `SELECT id, locked, lockgranted, lockedby FROM ${nameOf(own)}`)
  const shown = [select, ...(own.rows.length === 0 ? ['(0 rows)'] : own.rows.slice(0, 5).map(showRow))]
  const notes = flaws.filter(({ harmless }) => harmless).map(({ message }) => message)
  if (row !== null && !row.locked) return { ...nothing, evidence: shown, notes: [`${nameOf(own)} at ${database.target} is free`, ...notes] }
  if (identity.inRecovery) throw inRecovery(database)
  if (!own.writable) throw forbidden(database, identity, own, 'change', 'SELECT, INSERT, UPDATE')
  const of = { database: database.target, schema: own.schema }
  if (row === null) {
    const title = `insert the free row with id ${changelogLock.rowId} that Liquibase expects into ${nameOf(own)} at ${database.target}`
    return { ...nothing, steps: [{ title, action: { kind: 'insert-lock-row', ...of }, interrupts: false }], evidence: shown, notes }
  }
  const situation = await situationOf(database, row, around)
  const holding = judgeHolder(situation)
  const risk = riskOf(holding, identity, situation)
  const { locked, lockGranted, lockedBy } = row
  const since = situation.granted === null ? ', since when is not written' : ` since ${situation.granted.text}`
  const accepts = holding.holder === 'dead' ? null : (`${holding.holder}-holder` as const)
  return {
    steps: [
      {
        title: `release the lock in ${nameOf(own)} at ${database.target}, held by ${lockedBy ?? 'nobody that is named'}`,
        action: { kind: 'release-lock', ...of, row: { locked, lockGranted, lockedBy }, accepts },
        interrupts: false,
      },
    ],
    risks: risk === null ? [] : [risk],
    evidence: [
      ...shown,
      ...zoneEvidence(row, around, service),
      ...lockEvidence(database, situation, around, service, identity.user),
    ],
    notes: [`${lockedBy ?? 'nobody that is named'} holds it${since}`, ...(holding.holder === 'dead' ? [`the holder is dead: ${holding.why.join('; ')}`] : []), ...flaws.map(({ message }) => message)],
  }
}

/** The table that the service uses, or the one in the schema that was named. Throws USAGE where there is none in that. */
function tableOf(tables: readonly ChangelogLockTable[], wanted: string | null, user: string | null): ChangelogLockTable | null {
  const [first, ...others] = tables
  if (!first) return null
  if (wanted === null) return sortOut([first, ...others], user).own
  const named = tables.find(({ schema }) => schema === wanted)
  if (named) return named
  const schemas = tables.map(({ schema }) => schema)
  throw new AdminError(
    'USAGE',
    `schema ${wanted} has no table ${changelogLock.table}; there is one in ${listed(schemas)}`,
    schemas.map((schema) => `--schema ${schema}`),
  )
}

function riskOf(holding: LockHolding, { user }: DatabaseIdentity, { backends }: LockSituation): Risk | null {
  switch (holding.holder) {
    case 'dead':
      return null
    case 'live':
      return {
        name: 'live-holder',
        message: `the holder lives: ${holding.who}. To take its lock away lets a second migration run beside it, which can leave the database in a state that none of them knows.`,
        proof: ['wait until it has ended; `testops-admin doctor -d {deployment} --only database` shows it'],
      }
    case 'unproven':
      return {
        name: 'unproven-holder',
        message: `whether the holder lives is not shown: ${holding.why.join('; ')}`,
        proof: [
          ...(backends === null ? [`GRANT pg_read_all_stats TO "${user}"   -- typed in psql as a superuser, shows all sessions`] : []),
          'see to it that every instance of the service is stopped, on every machine, then plan again',
        ],
      }
  }
}

function withoutService(error: AdminError): AdminError {
  return new AdminError(error.code, `the service cannot be stopped and started: ${error.message}`, [
    ...error.suggestions,
    'stop the service yourself, then: testops-admin unlock-changelog -d {deployment} --no-restart',
  ], { cause: error })
}

function inRecovery({ target }: DatabaseSource): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} is in recovery: it is a standby, or is being restored, and takes no change`, [
    psql(target, 'postgres', 'SELECT pg_is_in_recovery()'),
    'name the primary in the configuration: database.url',
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

function distinct(risks: readonly Risk[]): Risk[] {
  return [...new Map(risks.map((risk) => [risk.name, risk])).values()]
}
