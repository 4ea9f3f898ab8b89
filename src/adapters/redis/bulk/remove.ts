import { AdminError } from '../../../core/error.ts'
import type { Removal, RemovalOptions } from '../../../core/sessions-control.ts'
import { sessionKeys } from '../../../knowledge/session-keys.ts'
import { pick } from './collect.ts'
import { total } from './count.ts'
import type { Counted } from './count.ts'
import { memberIds, membersOf } from './index-keys.ts'
import type { Node } from './node.ts'
import { commandForEach, commandOn, eachKey, integerIn } from './page.ts'
import type { Page } from './page.ts'

/** UNLINK lets the memory go in the background; DEL does the same at once, where that alone is allowed. */
export type RemovalVerb = 'UNLINK' | 'DEL'

/** pages under way at a time, so that the server always has one to work on */
const inFlight = 4
/** how often what has come back is removed again: a request that was under way writes its session once more */
const maxRounds = 5

/**
 * Removes what was counted: first what the index says of it, so that a session whose index is gone is always found again, then its
 * marks, then the sessions; then sees that none of them is left, by way of `anew`: the same nodes on other connections.
 */
export async function removeCounted(
  nodes: readonly Node[],
  counted: Counted,
  verb: RemovalVerb,
  { onBatch, onRemoved, signal, anew }: Omit<RemovalOptions, 'flush'> & { anew: () => Promise<readonly Node[]> },
): Promise<Removal> {
  const { census, ids, entries, selection } = counted
  const keys = total(counted.nodes.flatMap(({ marks, sessions }) => [...marks, ...sessions]))
  let done = 0
  let removed = 0
  const tell = async (count: number): Promise<void> => {
    if (signal.aborted) throw interrupted(signal)
    done += count
    await onBatch(done, keys)
  }
  if (ids.size > 0 && typeof selection.which === 'string') {
    for (const [at, node] of nodes.entries()) await removeEntries(node, census.namespace!, counted.nodes[at]!.index, ids)
  }
  for (const [at, node] of nodes.entries()) {
    await sumOver(node, verb, counted.nodes[at]!.marks, tell)
    removed += await sumOver(node, verb, counted.nodes[at]!.sessions, tell)
  }
  if (entries && typeof selection.which !== 'string') {
    await takeOut(nodes[entries.node]!, 'SREM', sessionKeys.userIndex(census.namespace!, selection.which.user), entries.members)
  }
  await onRemoved()
  await untilGone(await anew(), counted, verb, signal)
  return { counted: census.sessions, removed, notFlushed: null }
}

/** The sum of what the store answers to a command on all keys of those pages, several of them under way at a time. */
async function sumOver(
  node: Node,
  verb: RemovalVerb | 'EXISTS',
  pages: readonly Page[],
  tell: (count: number) => Promise<void> = async () => undefined,
): Promise<number> {
  let sum = 0
  const { wire, peer, isInCluster } = node
  const send = async (page: Page): Promise<void> => {
    const commands = isInCluster ? [commandForEach([verb], page)] : commandOn([verb], page)
    await wire.send(commands, isInCluster ? page.count : 1, (reply) => (sum += integerIn(reply, peer)))
  }
  const underWay: { sent: Promise<void>; count: number }[] = []
  const settleOne = async (): Promise<void> => {
    const { sent, count } = underWay.shift()!
    await sent
    await tell(count)
  }
  try {
    for (const page of pages) {
      const sent = send(page)
      sent.catch(() => undefined)
      underWay.push({ sent, count: page.count })
      if (underWay.length >= inFlight) await settleOne()
    }
    while (underWay.length > 0) await settleOne()
  } catch (error) {
    await Promise.allSettled(underWay.map(({ sent }) => sent))
    throw error
  }
  return sum
}

/** Removes again what a request that was under way has written back. Throws FAILED where it comes back again and again. */
async function untilGone(nodes: readonly Node[], { nodes: found }: Counted, verb: RemovalVerb, signal: AbortSignal): Promise<void> {
  for (let round = 0; ; round += 1) {
    let left = 0
    for (const [at, node] of nodes.entries()) {
      const pages = [...found[at]!.marks, ...found[at]!.sessions]
      const here = await sumOver(node, 'EXISTS', pages)
      if (here > 0 && round < maxRounds) await sumOver(node, verb, pages)
      left += here
    }
    if (left === 0) return
    if (signal.aborted) throw interrupted(signal)
    if (round >= maxRounds) throw comesBack(left)
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** round))
  }
}

/** Takes those ids out of the index: of users, and of what ends when. */
async function removeEntries(
  node: Node,
  namespace: string,
  { users, minutes, sorted }: Counted['nodes'][number]['index'],
  ids: ReadonlySet<string>,
): Promise<void> {
  for (const page of [...users, ...minutes]) {
    const keys: Buffer[] = []
    eachKey(page, (_, start, end) => keys.push(page.bytes.subarray(start, end)))
    for (const key of keys) await removeMembers(node, 'SREM', key, await membersOf(node, key), ids)
  }
  if (!sorted) return
  const key = sessionKeys.sortedExpirations(namespace)
  await removeMembers(node, 'ZREM', key, await membersOf(node, key, true), ids)
}

async function removeMembers(node: Node, verb: 'SREM' | 'ZREM', key: Buffer | string, members: Page | null, ids: ReadonlySet<string>): Promise<void> {
  if (!members) return
  const inOrder = memberIds(members)
  await takeOut(node, verb, key, pick(members, (index) => ids.has(inOrder[index]!)))
}

async function takeOut({ wire, peer }: Node, verb: 'SREM' | 'ZREM', key: Buffer | string, members: Page): Promise<void> {
  if (members.count === 0) return
  await wire.send(commandOn([verb, key], members), 1, (reply) => void integerIn(reply, peer))
}

function comesBack(count: number): AdminError {
  return new AdminError(
    'FAILED',
    `${count} keys of sessions that were removed have come back ${maxRounds} times: requests of these users are under way without a pause`,
    ['testops-admin flush-sessions --stale -d {deployment}   # later: what was written back lacks its creationTime'],
  )
}

function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}
