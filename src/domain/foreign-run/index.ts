import { AdminError } from '../../core/error.ts'
import { moment } from '../../core/format.ts'
import { fileOf, risksOf } from '../../core/plan.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './notes.ts'
import { unfitNotes, unfitPlaces } from './notes.ts'
import { unfitQueues } from './queues.ts'
import { unfitRest } from './rest.ts'
import { readSettings } from '../service.ts'
import { parseBoolean } from '../../knowledge/settings.ts'
import type { SettingNames } from '../../knowledge/settings.ts'
import type { Action, ActionKind } from '../../core/action.ts'
import type { Plan, RepairId } from '../../core/plan.ts'
import type { ChangelogLockRow } from '../../core/sources.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
import { tolerant } from '../wanted.ts'
import { liquibaseSettings } from '../../knowledge/database.ts'
import { changelogLock } from '../../knowledge/lock.ts'

/** How a record differs from what a repair of this deployment writes. Empty: it fits. */
export interface Misfits {
  /** Sentences for people; they may quote the record */
  unfit: readonly string[]
  /** Why a part could not be compared; null if all were */
  untold: AdminError | null
}

/** Maximum number of differences listed */
const mostTold = 5

/**
 * Compares a record in the deployment with what this repair could have written there at any stage of a run: kinds of
 * steps and their order, settings and values, queues, bindings, rows, files, notes (DESIGN.md 6.6). Anybody who may
 * write to the broker could have made it up, so what cannot be explained does not fit. Changes nothing.
 */
export async function misfitsOf(history: RunHistory, comparison: Comparison): Promise<Misfits> {
  const { record, events } = history
  const { plan, run, startedAt } = record
  const { repair } = plan
  const named = run.startsWith(`${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${repair}-`)
  const alone = [
    ...(named
      ? []
      : [
          'the name of the run does not match the repair and start time in its record ' +
            `(${repair}, ${moment(startedAt)})`,
        ]),
    ...(fileOf(plan) ? ['the run changes a file that is on another machine'] : []),
    ...plan.risks
      .filter(({ name }) => !risksOf[repair].includes(name))
      .map(({ name }) => `${repair} has no risk ${JSON.stringify(name)}`),
    ...unfitSteps(plan),
    ...unfitNotes(plan, events),
  ]
  // a record without the form of this repair is not compared with the deployment
  if (alone.length > 0) return { unfit: alone.slice(0, mostTold), untold: null }
  try {
    const judged: string[] = []
    for (const unfit of [unfitLocks, unfitQueues, unfitSettings, unfitRest])
      judged.push(...(await unfit(history, comparison)))
    return { unfit: judged.slice(0, mostTold), untold: null }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return { unfit: [], untold: error }
    throw error
  }
}

/**
 * Returns why settings in the record must not come from another machine; empty if they may. A setting can name a
 * program, a file or a host that the service then uses. So a record may set only settings that this program has a flag
 * for, to values that they can have; others need their own command.
 */
async function unfitSettings(history: RunHistory, { deployment, open }: Comparison): Promise<string[]> {
  const { repair, steps } = history.record.plan
  const secrets = steps.flatMap(({ action }) =>
    action.kind === 'set-secret'
      ? [
          `the run sets the secret ${action.name}. Saved records contain no secrets, so only the machine that ` +
            'started the run can resume or undo it',
        ]
      : [],
  )
  const changes = steps.flatMap(({ action }) => (action.kind === 'set-setting' ? [action] : []))
  if (changes.length === 0 || secrets.length > 0) return secrets
  const { names } = await readSettings(await open.service(), deployment)
  const unfit = changes.flatMap(({ name, from, to }) => {
    const takes = valuesOf(name, names)
    if (takes === null) return [`the run sets ${name}, which only a run that was started on this machine may set`]
    if (repair === 'reset-queues' && (name !== names.rabbitDurable || to === null || parseBoolean(to) !== true))
      return [`reset-queues never sets ${name} to ${shown(to)}`]
    const odd = [from, to].find((value) => value !== null && !takes(value))
    return odd === undefined ? [] : [`${name} cannot be ${shown(odd)}`]
  })
  return unfit.length > 0 ? unfit : unfitPlaces(history, { open })
}

/** Returns a test for the values of a setting that has its own flag; null if it has no flag. */
function valuesOf(name: string, names: SettingNames): ((value: string) => boolean) | null {
  switch (name) {
    case names.rabbitDurable:
      return (value) => parseBoolean(value) !== null
    case names.tokenValiditySeconds:
      return (value) => /^[1-9]\d{0,9}$/.test(value)
    case names.integrationLogLevel:
      return (value) => /^(?:trace|debug|info|warn|error|fatal|off|all)$/i.test(value)
    default:
      return null
  }
}

function shown(value: string | null): string {
  return value === null ? 'nothing' : JSON.stringify(value)
}

type LockAction = Extract<Action, { kind: 'release-lock' | 'insert-lock-row' | 'remove-lock-rows' }>

/** Maximum length of LOCKEDBY, a VARCHAR(255) (FIELD-NOTES.md 2) */
const longestHolder = 255

/** Returns the record's locks and rows that these databases lack or that are not Liquibase's; empty if all fit. */
async function unfitLocks({ record: { plan } }: RunHistory, { open }: Comparison): Promise<string[]> {
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

/** One letter for each kind of step, so that a regular expression can check the order of steps. */
const letters: { readonly [K in ActionKind]: string } = {
  'stop-service': 'S',
  'start-service': 'G',
  'release-lock': 'l',
  'insert-lock-row': 'i',
  'remove-lock-rows': 'r',
  'set-setting': 's',
  'set-secret': 'p',
  'edit-values': 'e',
  'upgrade-release': 'u',
  'fetch-image': 'f',
  'await-rollout': 'w',
  'hold-queues': 'h',
  'keep-queues': 'k',
  'drain-queues': 'd',
  'await-quiet': 'q',
  'move-messages': 'm',
  'delete-queues': 'x',
  'switch-exchanges': 'c',
  'redeclare-queues': 'a',
  'delete-held': 'z',
  'remove-sessions': 'o',
  'migrate-trees': 't',
  'await-migration': 'j',
}

/** The possible orders of steps of each repair (src/repairs). */
const orders: { readonly [K in RepairId]: RegExp } = {
  'unlock-changelog': /^(?:S[li]{1,99}G|[li]{0,99})r{0,99}$/,
  'flush-sessions': /^o$/,
  'reset-queues': /^(?:SsG|hk?d?Sqs?mxc?amzG|Sqs?(?:xc?a|c)G)$/,
  'migrate-trees': /^tj?$/,
  'use-legacy-image': /^(?:e{0,9}|e{0,9}uw|f?Se{0,9}G)$/,
  'set-env': /^(?:[sp]{1,99}|S[sp]{1,99}G)$/,
  'set-env-values': /^(?:e{0,9}|e{0,9}uw)$/,
  'service-stop': /^S$/,
  'service-start': /^G$/,
  'service-restart': /^S?G$/,
}

/** The checks that must verify each repair: without them a run would always succeed. */
const judges: { readonly [K in RepairId]: readonly string[] } = {
  'unlock-changelog': ['database/changelog-lock'],
  'flush-sessions': [],
  'reset-queues': ['broker/queues-durable', 'service/running', 'api/reachable'],
  'migrate-trees': [],
  'use-legacy-image': [],
  'set-env': [],
  'set-env-values': [],
  'service-stop': [],
  'service-start': ['service/running', 'api/reachable'],
  'service-restart': ['service/running', 'api/reachable'],
}

/** True if an action loses something that every plan with it must name. */
function loses(action: Action): boolean {
  switch (action.kind) {
    case 'remove-sessions':
    case 'migrate-trees':
    case 'keep-queues':
      return true
    case 'move-messages':
      return action.direction === 'back'
    case 'redeclare-queues':
      return action.queues.some(({ queue }) => Object.hasOwn(queue.arguments, 'x-expires'))
    default:
      return false
  }
}

/** Maximum number of steps in a plan; more than any repair makes */
const mostSteps = 200

/** Returns how a plan's steps, their order or their checks differ from this repair's; empty if they match. */
function unfitSteps({ repair, steps, verifiedBy }: Plan): string[] {
  if (steps.length > mostSteps) return [`the run has ${steps.length} steps, but the limit is ${mostSteps}`]
  const word = steps.map(({ action }) => letters[action.kind]).join('')
  const silent = steps.findIndex(({ action, loses: told }) => loses(action) && (told ?? '').trim() === '')
  const missing = judges[repair].filter((id) => !verifiedBy.includes(id))
  return [
    ...(orders[repair].test(word)
      ? []
      : [`${repair} never has these steps in this order: ${steps.map(({ action }) => action.kind).join(', ')}`]),
    ...(silent < 0 ? [] : [`the plan does not say what may be lost in step ${silent + 1} of the run`]),
    ...(missing.length === 0
      ? []
      : [`the plan of the run leaves out checks that are required to verify this repair: ${missing.join(', ')}`]),
  ]
}
