import { isDeepStrictEqual } from 'node:util'
import type { Action, ActionOf } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { Plan, RepairId } from '../../core/plan.ts'
import type { FilesSource, ServiceImage, ValueEdit, SessionsSource } from '../../core/sources.ts'
import { images } from '../../knowledge/images.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './notes.ts'
import { stageOf, vanishes } from './queues/parts.ts'

/** Maximum value of --concurrency */
const mostCalls = 64
const mostItems = 1_000_000

/** Returns why sessions, trees and files of the record are not this deployment's; empty if all are. */
export async function unfitRest(history: RunHistory, comparison: Comparison): Promise<string[]> {
  const found: string[] = []
  for (const { action } of history.record.plan.steps) found.push(...(await ofAction(action, history, comparison)))
  return found
}

async function ofAction(action: Action, history: RunHistory, comparison: Comparison): Promise<string[]> {
  switch (action.kind) {
    case 'remove-sessions':
      return unfitSessions(action, history, comparison)
    case 'migrate-trees':
      return ofTrees(action, comparison)
    case 'edit-values':
      return ofFile(action, comparison)
    case 'upgrade-release':
      return [
        'the run upgrades a Helm release from files on another machine. Begin the same repair again on this machine',
      ]
    case 'start-service':
      return ofStart(action, history.record.plan)
    default:
      return []
  }
}

/** Repairs whose undo stops the service again. */
const stopping: readonly RepairId[] = ['reset-queues', 'set-env', 'use-legacy-image']

/** Checks what else a start does in each repair; its locks are compared with those that are released. */
function ofStart(
  { stopsOnUndo, keeps = [], binds = [] }: ActionOf<'start-service'>,
  { repair, steps }: Plan,
): string[] {
  const deleted = steps.flatMap(({ action }) => (action.kind === 'delete-queues' ? action.queues : []))
  const vanishing = deleted.flatMap(({ queue }) => (vanishes(queue) ? [queue.name] : []))
  return [
    ...(stopsOnUndo && !stopping.includes(repair)
      ? [`undoing this run would stop the service, but undoing ${repair} never stops it`]
      : []),
    ...(isDeepStrictEqual([...keeps].sort(), vanishing.sort())
      ? []
      : ['undoing this run would protect the wrong queues: not exactly those that RabbitMQ deletes when unused']),
    // the bindings of a reset-queues are compared with what it saved
    ...(binds.length > 0 && repair !== 'reset-queues' ? [`${repair} never binds queues or exchanges`] : []),
  ]
}

async function ofTrees(
  { api, items, concurrency }: ActionOf<'migrate-trees'>,
  { open }: Comparison,
): Promise<string[]> {
  const { target } = await open.api()
  const isId = (id: number | null): boolean => id === null || id > 0
  return [
    ...(target === api ? [] : [`the run calls the API at ${api}, but the API of this deployment is at ${target}`]),
    ...(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= mostCalls
      ? []
      : [`the run makes ${concurrency} calls at a time, but this must be a whole number from 1 to ${mostCalls}`]),
    ...(items.length > 0 && items.length <= mostItems && items.every(({ project, tree }) => project > 0 && isId(tree))
      ? []
      : ['the list of trees in the run is empty or too long, or contains an invalid id']),
  ]
}

/** Checks that an edit changes only the service's image in a compose file that the engine started it from. */
async function ofFile({ file, edits }: ActionOf<'edit-values'>, { open }: Comparison): Promise<string[]> {
  const image = await imageOf(open)
  if (image?.service === undefined || image.files?.includes(file) !== true)
    return [`the run edits ${file}, but nothing shows that compose started this deployment from that file`]
  const files = await open.files()
  const found: string[] = []
  for (const edit of edits) found.push(...(await ofEdit(files, file, edit, image.service)))
  return found
}

async function ofEdit(files: FilesSource, file: string, edit: ValueEdit, service: string): Promise<string[]> {
  const { path, from, to } = edit
  if (path.join('\n') !== ['services', service, 'image'].join('\n'))
    return [`the run changes ${path.join('.')} in ${file}, but use-legacy-image never changes that key`]
  if (from === null || to === null || !isOtherName(from, to))
    return [
      `the run changes more than the image name in ${file}, but a run that was started on another machine may ` +
        'change only that name',
    ]
  const { text } = await files.look(file, path)
  if (text !== from && text !== to)
    return [`the image in ${file} is neither the old nor the new image in the saved record`]
  const [made] = await files.edits(file, [{ path, to: text === from ? to : from }])
  const isIt =
    made !== undefined &&
    (text === from
      ? made.at === edit.at && made.was === edit.was && made.is === edit.is
      : made.at === edit.at && made.was === edit.is && made.is === edit.was)
  return isIt ? [] : [`the run would change more than the image name in ${file}`]
}

/** True if one is the standard image, and the other the same with the legacy image's name. */
function isOtherName(one: string, other: string): boolean {
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one]
  const at = longer.lastIndexOf(images.legacy)
  return (
    at >= 0 &&
    (at === 0 || longer[at - 1] === '/') &&
    `${longer.slice(0, at)}${images.standard}${longer.slice(at + images.legacy.length)}` === shorter
  )
}

async function imageOf(open: Comparison['open']): Promise<ServiceImage | null> {
  try {
    return await (await open.service()).image()
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
    throw error
  }
}

type Removal = ActionOf<'remove-sessions'>

/** Returns how a removal of sessions differs from this deployment's store and key space; empty if it does not. */
async function unfitSessions(action: Removal, history: RunHistory, { open }: Comparison): Promise<string[]> {
  const {
    store,
    which,
    flush,
    counts: { asOf },
  } = action
  const sessions = await open.sessions()
  if (lasting(sessions.target) !== lasting(store))
    return [`the run removes sessions at ${store}, but this deployment keeps its sessions at ${sessions.target}`]
  if (flush && which !== 'all')
    return ['the run empties the whole Redis database, but its plan selects only some of the sessions']
  const found = await sessions.census({ namespace: null, which: 'all', asOf: null })
  return [
    ...(await ofNamespace(action, history, { sessions, found })),
    ...(asOf <= found.asOf ? [] : ['the saved record says that the sessions were counted at a time in the future']),
  ]
}

interface Store {
  sessions: SessionsSource
  /** The census of the configured key space, otherwise of the only one */
  found: Awaited<ReturnType<SessionsSource['census']>>
}

async function ofNamespace(
  { namespace, which, counts: { asOf } }: Removal,
  history: RunHistory,
  { sessions, found }: Store,
): Promise<string[]> {
  if (found.namespace !== null)
    return found.namespace === namespace
      ? []
      : [`the run removes Redis keys under ${namespace}, but the sessions are under ${found.namespace}`]
  if (found.rivals.length > 1)
    return [
      `the run removes Redis keys under ${namespace}, but there are sessions under several key prefixes: ` +
        `${found.rivals.map((it) => it.namespace).join(', ')}`,
    ]
  // after the removal, nothing shows where the sessions were
  const isBegun = stageOf(history, 'remove-sessions').at !== 'before'
  const left = await sessions.census({ namespace, which, asOf })
  return isBegun && left.present + left.leftovers === 0
    ? []
    : [`the run removes Redis keys under ${namespace}, but nothing shows that sessions were ever stored there`]
}

/** Returns the part of an address that stays when sentinels elect another master. */
function lasting(target: string): string {
  const at = target.indexOf('(sentinel, ')
  return at < 0 ? target : target.slice(at)
}
