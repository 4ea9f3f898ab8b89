import { listed } from '../core/format.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockDatabases } from '../domain/lock/databases.ts'
import { askedFor, countingRows } from '../domain/lock/row.ts'
import { surroundings, untilLogged } from '../domain/lock/situation.ts'
import type { Surroundings } from '../domain/lock/situation.ts'
import { had } from '../domain/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { ChangelogLockRow, ChangelogLockTable, DatabaseIdentity, DatabaseSource } from '../core/sources.ts'
import { changelogLock } from '../knowledge/lock.ts'
import { leftAlone, noTable, nothing, partOf } from './lock/part.ts'
import type { Part } from './lock/part.ts'
import { secondMigrationRisks } from '../domain/lock/steps.ts'
import { controllerRisks, rolloutRisks, startStep, stopStep, unaskedNotes } from './service-steps.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface UnlockOptions {
  /** False: the operator stops and starts the service */
  restart: boolean
  /** Schema of the table, if several schemas have one */
  schema: string | null
  /** False to judge a lock that was taken only just now at once; absent: waits until the service's log tells */
  waits?: boolean
}

export const unlockChangelog = defineRepair({
  id: 'unlock-changelog',
  title: 'release the change-log lock',
  reads: ['database'],
  wants: ['service', 'logs', 'api'],
  async plan({ database: given, service, logs, api }, deployment, { restart, schema, waits = true }: UnlockOptions) {
    const target: Record<string, string> = {}
    const parts: Part[] = []
    let around = await surroundings({ service, logs, api }, deployment)
    const databases = await lockDatabases(given, around)
    let looked = await lookAtAll(databases, around)
    assertKnown(schema, looked)
    assertAnyTable(looked, around)
    const pause = waits ? Math.max(...(await Promise.all(looked.map(async (one) => untilTold(one, around))))) : 0
    if (pause > 0) {
      await sleep(pause)
      around = await surroundings({ service, logs, api }, deployment)
      looked = await lookAtAll(databases, around)
    }
    const left: Left[] = []
    for (const [index, { database, identity, tables, error }] of looked.entries()) {
      const version = identity === null ? '' : `, PostgreSQL ${identity.version}`
      target[index === 0 ? 'database' : `database ${index + 1}`] = `${database.target}${version}`
      const [first, ...others] = schema === null || tables.some((table) => table.schema === schema) ? tables : []
      const where = schema === null ? '' : ` in schema ${schema}`
      if (error) left.push({ target: database.target, error })
      else if (identity === null || !first)
        parts.push(leftAlone(`${noTable(database, aroundOf(around, index === 0))}${where}`))
      else {
        const part = partOf({
          deployment,
          database,
          identity,
          tables: [first, ...others],
          schema,
          around: aroundOf(around, index === 0),
          service: had(service),
          isMain: index === 0,
        })
        parts.push(await (index === 0 ? part : part.catch((thrown: unknown) => leave(left, database, thrown))))
      }
    }
    const changes = parts.flatMap(({ steps }) => steps)
    const removals = parts.flatMap(({ removals: own }) => own)
    if (changes.length + removals.length === 0 && left[0]) throw nothingElse(left[0].error)
    if (restart && changes.length > 0 && service instanceof AdminError) throw withoutService(service)
    const isStopped = restart && changes.length > 0
    const ofStop =
      isStopped && !(service instanceof AdminError)
        ? [
            ...(await rolloutRisks(service, { mends: ['unready'] })),
            ...(await controllerRisks(service)),
            ...(await secondMigrationRisks(logs, await service.status(), deployment)),
          ]
        : []
    return {
      target,
      impact: {
        ...(changes.length > 0 && { locksReleased: changes.length }),
        ...(removals.length > 0 && { rowsRemoved: removals.flatMap(rowsOf).length }),
        ...(isStopped && { serviceRestarts: 1 }),
      },
      evidence: parts.flatMap(({ evidence }) => evidence),
      notes: [
        ...parts.flatMap(({ notes }) => notes),
        ...(isStopped ? unaskedNotes(api) : []),
        ...left.map(({ target: where, error }) => `${where} stays unchanged: ${error.message}`),
      ],
      risks: [...merged(parts.flatMap(({ risks }) => risks)), ...ofStop],
      steps: [
        ...(isStopped ? [stopStep(around.status), ...changes, startStep(changes.flatMap(placeOf))] : changes),
        ...removals,
      ],
      verifiedBy: ['database/changelog-lock', ...(isStopped ? ['service/running', 'api/reachable'] : [])],
    }
  },
})

interface Looked {
  database: DatabaseSource
  identity: DatabaseIdentity | null
  tables: readonly ChangelogLockTable[]
  /** Why it could not be queried */
  error?: AdminError
}

async function lookAtAll(databases: readonly DatabaseSource[], around: Surroundings): Promise<Looked[]> {
  return Promise.all(
    databases.map(async (database, index) => lookAt(database, aroundOf(around, index === 0), index === 0)),
  )
}

/** Returns the surroundings of one database: the service's Liquibase looks only into the main one. */
function aroundOf(around: Surroundings, isMain: boolean): Surroundings {
  return isMain ? around : { ...around, liquibase: null }
}

/** Returns the milliseconds until the service's log shows who holds a lock that was taken only just now. */
async function untilTold({ database, tables }: Looked, around: Surroundings): Promise<number> {
  const held = tables.flatMap((table) => countingRows(table)).find(({ locked }) => locked)
  return held ? untilLogged(held, database, around) : 0
}

/** Looks at one database. An unreachable further one must not keep another's lock from being released. */
async function lookAt(database: DatabaseSource, around: Surroundings, isMain: boolean): Promise<Looked> {
  try {
    return { database, identity: await database.identity(), tables: await database.changelogLocks(askedFor(around)) }
  } catch (error) {
    if (isMain || !(error instanceof AdminError)) throw error
    return { database, identity: null, tables: [], error }
  }
}

/** A further database that the repair does not change, and why. */
interface Left {
  target: string
  error: AdminError
}

function leave(left: Left[], { target }: DatabaseSource, thrown: unknown): Part {
  if (!(thrown instanceof AdminError)) throw thrown
  left.push({ target, error: thrown })
  return nothing
}

/** Returns the error for an unseen database: then the whole deployment cannot be called free of work. */
function nothingElse(error: AdminError): AdminError {
  return new AdminError(
    error.code,
    `${error.message}; there is nothing to do in the other databases`,
    error.suggestions,
    { cause: error },
  )
}

/** Throws USAGE if no database has a table in the named schema. */
function assertKnown(schema: string | null, looked: readonly Looked[]): void {
  const schemas = [...new Set(looked.flatMap(({ tables }) => tables.map((table) => table.schema)))]
  if (schema === null || schemas.includes(schema)) return
  const where = schemas.length === 0 ? 'no other schema has this table' : `schemas with this table: ${listed(schemas)}`
  throw new AdminError(
    'USAGE',
    `schema ${schema} has no table ${changelogLock.table}; ${where}`,
    schemas.map((name) => command`--schema ${name}`),
  )
}

/**
 * Throws UNEXPECTED_ANSWER if no database has the table: an operator with a wrong address must not read that there is
 * nothing to do.
 */
function assertAnyTable(looked: readonly Looked[], { liquibase }: Surroundings): void {
  const named = liquibase?.table ?? null
  const isNamed = ({ table = changelogLock.table }: ChangelogLockTable): boolean =>
    named === null || table.toLowerCase() === named.toLowerCase()
  if (
    looked.some(
      ({ tables, error }, index) => (index === 0 ? tables.filter(isNamed) : tables).length > 0 || error !== undefined,
    )
  )
    return
  const targets = listed(looked.map(({ database }) => database.target))
  const message =
    `no table ${named ?? changelogLock.table} in ` +
    `${targets}${named === null ? '' : ` (${listed(liquibase!.shown)})`}: Liquibase has not created the table ` +
    'yet, or the service uses a different database'
  throw new AdminError('UNEXPECTED_ANSWER', message, [
    'check that the configuration names the database that the service uses',
    'testops-admin doctor -d {deployment}',
  ])
}

function placeOf({ action }: Step): { database: string; schema: string; table?: string }[] {
  if (action.kind !== 'release-lock' && action.kind !== 'insert-lock-row') return []
  return [
    { database: action.database, schema: action.schema, ...(action.table !== undefined && { table: action.table }) },
  ]
}

function withoutService(error: AdminError): AdminError {
  const commands: Suggestion[] = [
    'stop the service yourself, then: testops-admin unlock-changelog -d {deployment} --no-restart',
  ]
  return new AdminError(
    error.code,
    `cannot stop and start the service: ${error.message}`,
    [...error.suggestions, ...commands],
    { cause: error },
  )
}

function rowsOf({ action }: Step): readonly ChangelogLockRow[] {
  return action.kind === 'remove-lock-rows' ? action.rows : []
}

/** Merges risks of the same name into one that mentions every lock concerned. */
function merged(risks: readonly Risk[]): Risk[] {
  const byName = new Map<string, Risk>()
  for (const risk of risks) {
    const former = byName.get(risk.name)
    const message = former ? `${former.message}; ${risk.message}` : risk.message
    byName.set(risk.name, { ...risk, message, proof: [...new Set([...(former?.proof ?? []), ...risk.proof])] })
  }
  return [...byName.values()]
}
