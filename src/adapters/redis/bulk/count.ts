import { isDeepStrictEqual } from 'node:util'
import type { SessionCensus, SessionSelection } from '../../../core/sources.ts'
import { isStale, sessionKeys, wasThere } from '../../../knowledge/sessions.ts'
import type { IndexKeys, Space } from './collect.ts'
import {
  eachId,
  indexKeys,
  indexSize,
  isIndexed,
  marksOf,
  mayBeIndexed,
  memberIds,
  membersOf,
  pick,
  sessionHashes,
  withTimes,
} from './collect.ts'
import type { Node } from './node.ts'
import { integer, timeOf, timesOf } from './node.ts'
import type { Page } from './page.ts'
import { noKeys } from './page.ts'

/** The keys of the selected sessions on one server. */
interface NodeKeys {
  /** Name of the server */
  name: string
  sessions: readonly Page[]
  marks: readonly Page[]
  index: IndexKeys
}

/** A count, with the names of what was counted. Only in memory, since ids are credentials. */
export interface Counted {
  selection: SessionSelection
  census: SessionCensus
  nodes: readonly NodeKeys[]
  /** Ids of the selected sessions; empty without an index */
  ids: ReadonlySet<string>
  /** If one user is selected: entries of the index to remove, and their node */
  entries: { node: number; members: Page } | null
}

const noIndex: IndexKeys = { marks: [], users: [], minutes: [], sorted: false }

/** Counts the selected sessions by looking at every key. Changes nothing. Throws the servers' errors. */
export async function countSessions(nodes: readonly Node[], selection: SessionSelection): Promise<Counted> {
  const asOf = await timeOf(nodes[0]!)
  const { namespace, candidates, rivals } = await spaceOf(nodes, selection.namespace)
  const hashes = total(candidates.flat())
  const nothing = { namespace, rivals, indexed: false, sessions: 0, present: hashes, users: null, leftovers: 0, asOf }
  if (namespace === null || rivals.length > 1) {
    const census = { ...nothing, foreign: await databaseSize(nodes) }
    return {
      selection,
      census,
      nodes: nodes.map(({ name }) => ({ name, sessions: [], marks: [], index: noIndex })),
      ids: new Set(),
      entries: null,
    }
  }
  // as many keys as sessions do not prove that there are no others, since sessions end meanwhile: it only spares a
  // closer look
  const isPlain =
    (await databaseSize(nodes)) === hashes &&
    !(await Promise.all(nodes.map(async (node) => mayBeIndexed(node, namespace)))).includes(true)
  const index = isPlain
    ? nodes.map(() => noIndex)
    : await Promise.all(nodes.map(async (node) => indexKeys(node, namespace)))
  const indexed = index.some(isIndexed)
  const userIds = await ofUser(nodes, namespace, selection)
  const sessions = await Promise.all(
    candidates.map(async (pages, at) =>
      select(nodes[at]!, pages, { selection, indexed, asOf, userIds: userIds?.ids ?? null }),
    ),
  )
  const ids = new Set<string>()
  if (indexed) for (const page of sessions.flat()) eachId(page, (id) => ids.add(id))
  const spared = userIds && idsOf(candidates.flat(), (id) => userIds.ids.has(id) && !ids.has(id))
  const entries = userIds &&
    spared && { node: userIds.node, members: pick(userIds.members, (at) => !spared.has(userIds.inOrder[at]!)) }
  const found = nodes.map(
    ({ name }, at): NodeKeys => ({
      name,
      sessions: sessions[at]!,
      marks: indexed ? marksOf(index[at]!, ids) : [],
      index: index[at]!,
    }),
  )
  const own = index.reduce((sum, it) => sum + indexSize(it), 0)
  const counted = total(sessions.flat())
  const census: SessionCensus = {
    ...nothing,
    indexed,
    sessions: counted,
    users: index.some(({ users }) => users.length > 0) ? total(index.flatMap(({ users }) => users)) : null,
    leftovers: entries ? entries.members.count - counted : 0,
    foreign: Math.max(0, (await databaseSize(nodes)) - hashes - total(index.flatMap(({ marks }) => marks)) - own),
  }
  return { selection, census, nodes: found, ids, entries }
}

export function total(pages: readonly Page[]): number {
  return pages.reduce((sum, { count }) => sum + count, 0)
}

async function databaseSize(nodes: readonly Node[]): Promise<number> {
  const sizes = await Promise.all(nodes.map(async (node) => integer(node, 'DBSIZE')))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Finds the named key space, or the only one that holds sessions, and its sessions by node. */
async function spaceOf(
  nodes: readonly Node[],
  named: string | null,
): Promise<Pick<SessionCensus, 'namespace' | 'rivals'> & { candidates: readonly (readonly Page[])[] }> {
  const spaces = await Promise.all(nodes.map(async (node) => sessionHashes(node, named)))
  const names = named === null ? new Set(spaces.flatMap((it) => [...it.keys()])) : new Set([named])
  const proven = new Map<string, Page[][]>()
  for (const name of names) {
    const here = await Promise.all(
      nodes.map(async (node, at) => sessionsIn(node, spaces[at]!.get(name), named === null)),
    )
    if (here.flat().length > 0) proven.set(name, here)
  }
  const [first] = proven
  const rivals = [...proven]
    .map(([namespace, pages]) => ({ namespace, sessions: total(pages.flat()) }))
    .sort((a, b) => b.sessions - a.sessions)
  const none = nodes.map(() => [])
  // a key space may hold only an index, of a user whose sessions are gone
  if (!first) return { namespace: named, rivals: [], candidates: none }
  // the operator has to name the key space first
  if (proven.size > 1) return { namespace: null, rivals, candidates: none }
  return { namespace: first[0], rivals: [], candidates: first[1] }
}

/** hashes without a session's times after which a key space counts as another program's */
const proofSize = 50

async function sessionsIn(node: Node, space: Space | undefined, isToProve: boolean): Promise<Page[]> {
  if (!space) return []
  const unsure = await withTimes(node, space.unsure)
  const [sample] = space.sessions
  if (isToProve && sample && unsure.length === 0) {
    const [proof] = await withTimes(node, [pick(sample, (index) => index < proofSize)])
    if (!proof) return []
  }
  return [...space.sessions, ...unsure]
}

/** Returns the selected sessions of those pages. */
async function select(
  node: Node,
  pages: readonly Page[],
  {
    selection: { which, asOf: then },
    indexed,
    asOf: now,
    userIds,
  }: { selection: SessionSelection; indexed: boolean; asOf: number; userIds: ReadonlySet<string> | null },
): Promise<Page[]> {
  const kept: Page[] = []
  for (const all of pages) {
    const page = userIds === null ? all : pick(all, member(all, userIds))
    if (page.count === 0) continue
    if (which !== 'stale' && then === null) {
      kept.push(page)
      continue
    }
    const times = await timesOf(node, page)
    const isMeant = (index: number): boolean => {
      const it = times[index]
      if (!it) return false
      return (
        (which !== 'stale' || isStale(it, { now, indexed })) && (then === null || wasThere(it, { asOf: then, now }))
      )
    }
    const own = pick(page, isMeant)
    if (own.count > 0) kept.push(own)
  }
  return kept
}

/** Finds the selected user's sessions by the index; null if no single user is selected. */
async function ofUser(
  nodes: readonly Node[],
  namespace: string,
  { which }: SessionSelection,
): Promise<{ node: number; members: Page; inOrder: string[]; ids: Set<string> } | null> {
  if (typeof which === 'string') return null
  for (const [node, it] of nodes.entries()) {
    const members = await membersOf(it, sessionKeys.userIndex(namespace, which.user))
    if (!members) continue
    const inOrder = memberIds(members)
    return { node, members, inOrder, ids: new Set(inOrder) }
  }
  return { node: 0, members: noKeys, inOrder: [], ids: new Set() }
}

function idsOf(pages: readonly Page[], isMeant: (id: string) => boolean): Set<string> {
  const ids = new Set<string>()
  for (const page of pages) eachId(page, (id) => void (isMeant(id) && ids.add(id)))
  return ids
}

function member(page: Page, ids: ReadonlySet<string>): (index: number) => boolean {
  const isSo: boolean[] = []
  eachId(page, (id) => isSo.push(ids.has(id)))
  return (index) => isSo[index]!
}

/** The last count of this process. A step removes what was counted for its plan, without another look at all keys. */
export interface LastCount {
  keep(counted: Counted): void
  /** Returns the last count if it answers `selection`: the same one a moment ago, or the one made at `asOf` */
  find(selection: SessionSelection): Counted | null
  forget(): void
}

/** milliseconds for which a count is reused if the selection names no time */
const freshMs = 10_000

export function lastCount(): LastCount {
  let last: { counted: Counted; at: number } | null = null
  return {
    keep(counted) {
      last = { counted, at: performance.now() }
    },
    find(selection) {
      if (last === null) return null
      const { selection: of, census } = last.counted
      if (!isDeepStrictEqual(of.which, selection.which) || of.asOf !== null) return null
      const isSameSpace = of.namespace === selection.namespace || census.namespace === selection.namespace
      const isSameTime =
        selection.asOf === null ? performance.now() - last.at < freshMs : selection.asOf === census.asOf
      return isSameSpace && isSameTime ? last.counted : null
    },
    forget() {
      last = null
    },
  }
}
