import { AdminError } from '../../../core/error.ts'
import type { Removal, RemovalOptions } from '../../../core/sessions-control.ts'
import { sessionKeys } from '../../../knowledge/session-keys.ts'
import { total } from './count.ts'
import type { Counted } from './count.ts'
import { removeEntries, takeOut } from './entries.ts'
import { indexSize } from './index-keys.ts'
import type { Node } from './node.ts'
import { commandForEach, commandOn, integerIn } from './page.ts'
import type { Page } from './page.ts'
import { onEach } from './under-way.ts'

/** UNLINK lets the memory go in the background; DEL does the same at once, where that alone is allowed. */
export type RemovalVerb = 'UNLINK' | 'DEL'

/** how often what has come back is removed again: a request that was under way writes its session once more */
const maxRounds = 5

/**
 * Removes what was counted: first what the index says of it, so that a session whose index is gone is always found
 * again, then its marks, then the sessions; then sees that none of them is left, by way of `anew`: the same nodes on
 * other connections.
 */
export async function removeCounted(
  nodes: readonly Node[],
  counted: Counted,
  verb: RemovalVerb,
  { onBatch, onRemoved, signal, anew }: Omit<RemovalOptions, 'flush'> & { anew: () => Promise<readonly Node[]> },
): Promise<Removal> {
  const { census, ids, entries, selection } = counted
  const hasEntries = ids.size > 0 && typeof selection.which === 'string'
  const looked = hasEntries ? counted.nodes.reduce((sum, { index }) => sum + indexSize(index), 0) : 0
  const keys = looked + total(counted.nodes.flatMap(({ marks, sessions }) => [...marks, ...sessions]))
  let done = 0
  let removed = 0
  const tell = async (count: number): Promise<void> => {
    if (signal.aborted) throw interrupted(signal)
    done += count
    await onBatch(done, keys)
  }
  if (hasEntries) {
    for (const [at, node] of nodes.entries())
      await removeEntries(node, census.namespace!, { index: counted.nodes[at]!.index, ids, tell })
  }
  for (const [at, node] of nodes.entries()) {
    await sumOver(node, verb, counted.nodes[at]!.marks, tell)
    removed += await sumOver(node, verb, counted.nodes[at]!.sessions, tell)
  }
  if (entries && typeof selection.which !== 'string') {
    const key = sessionKeys.userIndex(census.namespace!, selection.which.user)
    await takeOut(nodes[entries.node]!, 'SREM', key, { members: entries.members, tell: async () => tell(0) })
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
  await onEach(pages, send, tell)
  return sum
}

/**
 * Removes again what a request that was under way has written back. Throws FAILED where it comes back again and again.
 */
async function untilGone(
  nodes: readonly Node[],
  { nodes: found }: Counted,
  verb: RemovalVerb,
  signal: AbortSignal,
): Promise<void> {
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

function comesBack(count: number): AdminError {
  return new AdminError(
    'FAILED',
    `${count} keys of removed sessions came back ${maxRounds} times: these users keep sending requests`,
    [
      'testops-admin flush-sessions --stale -d {deployment}   # run this later: sessions that came back lack their creationTime',
    ],
  )
}

function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}
