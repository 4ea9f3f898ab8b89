import type { Action } from '../../core/action.ts'
import type { Plan } from '../../core/plan.ts'
import type { RunHistory } from '../../core/run.ts'
import type { ChangelogLockRow } from '../../core/sources.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
import { tolerant } from '../wanted.ts'
import { liquibaseSettings } from '../../knowledge/database.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import type { Comparison } from './comparison.ts'

type LockAction = Extract<Action, { kind: 'release-lock' | 'insert-lock-row' | 'remove-lock-rows' }>

/** Maximum length of LOCKEDBY, a VARCHAR(255) (FIELD-NOTES.md 2) */
const longestHolder = 255

/** Returns the record's locks and rows that these databases lack or that are not Liquibase's; empty if all fit. */
export async function unfitLocks({ record: { plan } }: RunHistory, { open }: Comparison): Promise<string[]> {
  const actions = plan.steps.flatMap(({ action }): LockAction[] =>
    action.kind === 'release-lock' || action.kind === 'insert-lock-row' || action.kind === 'remove-lock-rows'
      ? [action]
      : [],
  )
  const awaited = plan.steps.flatMap(({ action }) => (action.kind === 'start-service' ? (action.locks ?? []) : []))
  const isKnown = (place: { database: string; schema: string; table?: string }): boolean =>
    actions.some((it) => it.database === place.database && it.schema === place.schema && it.table === place.table)
  const found = awaited
    .filter((it) => !isKnown(it))
    .map(
      ({ database, schema }) =>
        `the run waits until the lock of schema ${schema} at ${database} is free, but none of its steps changes ` +
        'that lock',
    )
  for (const action of actions) found.push(...ofRows(action, plan))
  if (actions.length === 0 || found.length > 0) return found
  const databases = await open.database()
  const liquibase = await ownTables(open)
  for (const { database, schema, table = changelogLock.table } of actions) {
    const own = databases.find(({ target, alsoAt }) => target === database || alsoAt.includes(database))
    if (!own) found.push(`${database} is not a database of this deployment`)
    else if (table !== changelogLock.table && table.toLowerCase() !== liquibase?.toLowerCase())
      found.push(`${schema}.${table} at ${database} is not the service's table for the change-log lock`)
    else if (
      !(await own.changelogLocks({ table, user: null })).some(
        (it) => it.schema === schema && (it.table ?? changelogLock.table) === table,
      )
    )
      found.push(`schema ${schema} at ${database} has no table ${table}`)
  }
  return found
}

/** Returns the lock table that the service's settings name; null for the default. */
async function ownTables(open: Comparison['open']): Promise<string | null> {
  const environment = await tolerant((async () => (await open.service()).environment())())
  return liquibaseSettings((name) => {
    const value = environment?.get(name)
    if (value instanceof UnreadableSecret) return undefined
    return value instanceof Secret ? value.reveal() : value
  }).table
}

function ofRows(action: LockAction, { risks }: Plan): string[] {
  switch (action.kind) {
    case 'insert-lock-row':
      return []
    case 'release-lock': {
      const { row, accepts } = action
      return [
        ...(row.locked ? [] : ['the run releases a lock, but its saved record shows that lock as free']),
        ...ofRow(row),
        ...(accepts === null || risks.some(({ name }) => name === accepts)
          ? []
          : [`the saved record says that the risk ${accepts} was accepted, but its plan does not list that risk`]),
      ]
    }
    case 'remove-lock-rows': {
      const ids = action.rows.map(({ id }) => id)
      return [
        ...(ids.includes(changelogLock.rowId)
          ? [`the run would remove the row with id ${changelogLock.rowId}, which is the lock itself`]
          : []),
        ...(new Set(ids).size === ids.length && ids.length > 0 && ids.length < changelogLock.rowsRead
          ? []
          : ['the list of lock rows that the run removes is empty or too long, or names a row twice']),
        ...action.rows.flatMap(ofRow),
      ]
    }
  }
}

function ofRow({ lockGranted, lockedBy }: Pick<ChangelogLockRow, 'lockGranted' | 'lockedBy'>): string[] {
  return [
    ...(lockGranted === null ||
    /^(?:-?infinity|\d{4,6}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?: BC)?)$/.test(lockGranted)
      ? []
      : ['the saved record shows a lock with an invalid time']),
    ...(lockedBy === null || lockedBy.length <= longestHolder
      ? []
      : [
          `the name of a lock holder in the saved record has ${lockedBy.length} characters, but the limit is ` +
            `${longestHolder}`,
        ]),
  ]
}
