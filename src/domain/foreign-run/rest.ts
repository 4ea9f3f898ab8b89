import { isDeepStrictEqual } from 'node:util'
import type { Action, ActionOf } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { Plan, RepairId } from '../../core/plan.ts'
import type { FilesSource, ServiceImage, ValueEdit, SessionsSource } from '../../core/sources.ts'
import { images } from '../../knowledge/images.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './comparison.ts'
import { vanishes } from './queues/parts.ts'
import { stageOf } from './stages.ts'

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
      return ['it upgrades a Helm release from files on another machine. Run that command again on this machine']
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
    ...(stopsOnUndo && !stopping.includes(repair) ? [`an undo of a ${repair} does not stop the service`] : []),
    ...(isDeepStrictEqual([...keeps].sort(), vanishing.sort())
      ? []
      : ['the queues that its undo keeps open are not those that vanish']),
    // the bindings of a reset-queues are compared with what it saved
    ...(binds.length > 0 && repair !== 'reset-queues' ? [`a ${repair} binds nothing`] : []),
  ]
}

async function ofTrees(
  { api, items, concurrency }: ActionOf<'migrate-trees'>,
  { open }: Comparison,
): Promise<string[]> {
  const { target } = await open.api()
  const isId = (id: number | null): boolean => id === null || id > 0
  return [
    ...(target === api ? [] : [`it calls ${api}, but this deployment is at ${target}`]),
    ...(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= mostCalls
      ? []
      : [`it makes ${concurrency} calls at a time`]),
    ...(items.length > 0 && items.length <= mostItems && items.every(({ project, tree }) => project > 0 && isId(tree))
      ? []
      : ['its list of trees is invalid']),
  ]
}

/** Checks that an edit changes only the service's image in a compose file that the engine started it from. */
async function ofFile({ file, edits }: ActionOf<'edit-values'>, { open }: Comparison): Promise<string[]> {
  const image = await imageOf(open)
  if (image?.service === undefined || image.files?.includes(file) !== true)
    return [`it edits ${file}, but this deployment does not start from that file`]
  const files = await open.files()
  const found: string[] = []
  for (const edit of edits) found.push(...(await ofEdit(files, file, edit, image.service)))
  return found
}

async function ofEdit(files: FilesSource, file: string, edit: ValueEdit, service: string): Promise<string[]> {
  const { path, from, to } = edit
  if (path.join('\n') !== ['services', service, 'image'].join('\n'))
    return [`it changes ${path.join('.')} in ${file}, which use-legacy-image never does`]
  if (from === null || to === null || !isOtherName(from, to))
    return [`it changes more of the image in ${file} than its name`]
  const { text } = await files.look(file, path)
  if (text !== from && text !== to) return [`${file} has another image than the record says`]
  const [made] = await files.edits(file, [{ path, to: text === from ? to : from }])
  const isIt =
    made !== undefined &&
    (text === from
      ? made.at === edit.at && made.was === edit.was && made.is === edit.is
      : made.at === edit.at && made.was === edit.is && made.is === edit.was)
  return isIt ? [] : [`it would write more than the name of the image into ${file}`]
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
    return [`it removes sessions at ${store}, but this deployment keeps them at ${sessions.target}`]
  if (flush && which !== 'all') return ['it empties the whole database, but selects only some of the sessions']
  const found = await sessions.census({ namespace: null, which: 'all', asOf: null })
  return [
    ...(await ofNamespace(action, history, { sessions, found })),
    ...(asOf <= found.asOf ? [] : ['its count of sessions has a time in the future']),
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
      : [`it removes keys below ${namespace}, but the sessions are below ${found.namespace}`]
  if (found.rivals.length > 1)
    return [
      `it removes keys below ${namespace}, but several key spaces hold sessions: ${found.rivals.map((it) => it.namespace).join(', ')}`,
    ]
  // after the removal, nothing shows where the sessions were
  const isBegun = stageOf(history, 'remove-sessions').at !== 'before'
  const left = await sessions.census({ namespace, which, asOf })
  return isBegun && left.present + left.leftovers === 0
    ? []
    : [`it removes keys below ${namespace}, but nothing shows that sessions were ever there`]
}

/** Returns the part of an address that stays when sentinels elect another master. */
function lasting(target: string): string {
  const at = target.indexOf('(sentinel, ')
  return at < 0 ? target : target.slice(at)
}
