import { listed } from '../checks/support/format.ts'
import { surroundings } from '../checks/support/lock-situation.ts'
import { had } from '../checks/support/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { ChangelogLockTable, DatabaseIdentity, DatabaseSource } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import { partOf } from './lock/part.ts'
import type { Part } from './lock/part.ts'
import { startStep, stopStep } from './service-steps.ts'

export interface UnlockOptions {
  /** false: the operator stops and starts the service */
  restart: boolean
  /** of the table, where several schemas have one */
  schema: string | null
}

export const unlockChangelog = defineRepair({
  id: 'unlock-changelog',
  title: 'release the change-log lock',
  reads: ['database'],
  wants: ['service', 'logs', 'api'],
  async plan({ database: databases, service, logs, api }, deployment, { restart, schema }: UnlockOptions) {
    const around = await surroundings({ service, logs, api }, deployment)
    const target: Record<string, string> = {}
    const parts: Part[] = []
    const looked = await Promise.all(databases.map(async (database, index) => lookAt(database, index === 0)))
    assertKnown(schema, looked)
    for (const [index, { database, identity, tables, reason }] of looked.entries()) {
      const version = identity === null ? '' : `, PostgreSQL ${identity.version}`
      target[index === 0 ? 'database' : `database ${index + 1}`] = `${database.target}${version}`
      const [first, ...others] = schema === null || tables.some((table) => table.schema === schema) ? tables : []
      const where = schema === null ? '' : ` in schema ${schema}`
      if (identity === null || !first) parts.push(empty(reason ?? `${database.target} has no table ${changelogLock.table}${where}`))
      else parts.push(await partOf({ database, identity, tables: [first, ...others], schema, around, service: had(service) }))
    }
    const changes = parts.flatMap(({ steps }) => steps)
    if (restart && changes.length > 0 && service instanceof AdminError) throw withoutService(service)
    return {
      target,
      impact: { locksReleased: changes.length, ...(restart && changes.length > 0 && { serviceRestarts: 1 }) },
      evidence: parts.flatMap(({ evidence }) => evidence),
      notes: parts.flatMap(({ notes }) => notes),
      risks: distinct(parts.flatMap(({ risks }) => risks)),
      steps: changes.length === 0 || !restart ? changes : [stopStep(around.status), ...changes, startStep(changes.flatMap(placeOf))],
      verifiedBy: ['database/changelog-lock', ...(restart ? ['service/running', 'api/reachable'] : [])],
    }
  },
})

interface Looked {
  database: DatabaseSource
  identity: DatabaseIdentity | null
  tables: readonly ChangelogLockTable[]
  /** why it could not be asked */
  reason?: string
}

/** A further data source that is down does not keep the lock of another from being released. */
async function lookAt(database: DatabaseSource, isMain: boolean): Promise<Looked> {
  try {
    return { database, identity: await database.identity(), tables: await database.changelogLocks() }
  } catch (error) {
    if (isMain || !(error instanceof AdminError)) throw error
    return { database, identity: null, tables: [], reason: `${database.target} could not be asked, and is left as it is: ${error.message}` }
  }
}

/** Throws USAGE where a schema was named in which no database has a table. */
function assertKnown(schema: string | null, looked: readonly Looked[]): void {
  const schemas = [...new Set(looked.flatMap(({ tables }) => tables.map((table) => table.schema)))]
  if (schema === null || schemas.includes(schema)) return
  const where = schemas.length === 0 ? 'nor has any other' : `there is one in ${listed(schemas)}`
  throw new AdminError('USAGE', `schema ${schema} has no table ${changelogLock.table}; ${where}`, schemas.map((name) => `--schema ${name}`))
}

function empty(note: string): Part {
  return { steps: [], risks: [], evidence: [], notes: [note] }
}

function placeOf({ action }: Step): { database: string; schema: string }[] {
  return action.kind === 'release-lock' || action.kind === 'insert-lock-row' ? [{ database: action.database, schema: action.schema }] : []
}

function withoutService(error: AdminError): AdminError {
  const commands = ['stop the service yourself, then: testops-admin unlock-changelog -d {deployment} --no-restart']
  return new AdminError(error.code, `the service cannot be stopped and started: ${error.message}`, [...error.suggestions, ...commands], { cause: error })
}

function distinct(risks: readonly Risk[]): Risk[] {
  return [...new Map(risks.map((risk) => [risk.name, risk])).values()]
}
