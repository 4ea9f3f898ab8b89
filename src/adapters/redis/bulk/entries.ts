import { sessionKeys } from '../../../knowledge/session-keys.ts'
import { pick } from './collect.ts'
import { memberIds, membersOf } from './index-keys.ts'
import type { IndexKeys } from './index-keys.ts'
import type { Node } from './node.ts'
import { assertAnswer, commandForEach, commandOn, eachKey, errorIn, integerIn, listIn, pieces } from './page.ts'
import type { Page } from './page.ts'
import { onEach } from './under-way.ts'

/** sets that are asked for at a time, and members that one command takes out: some ms of the server's time */
const most = 1000

/**
 * Takes those ids out of the index: of users, and of what ends when. Every user's set is looked at, since whose a
 * session is stands in what is never read of it. `tell` is awaited with how many keys were looked at since, and ends it
 * by throwing.
 */
export async function removeEntries(
  node: Node,
  namespace: string,
  { index, ids, tell }: { index: IndexKeys; ids: ReadonlySet<string>; tell: (count: number) => Promise<void> },
): Promise<void> {
  const sets = [...index.users, ...index.minutes].flatMap((page) => pieces(page, most))
  await onEach(sets, async (page) => removeFromSets(node, page, ids), tell)
  if (!index.sorted) return
  const key = sessionKeys.sortedExpirations(namespace)
  const members = await membersOf(node, key, true)
  if (members) await takeOut(node, 'ZREM', key, { members: only(members, ids), tell: async () => tell(0) })
  await tell(1)
}

/** Takes members out of one set. */
export async function takeOut(
  { wire, peer }: Node,
  verb: 'SREM' | 'ZREM',
  key: Buffer | string,
  { members, tell }: { members: Page; tell: () => Promise<void> },
): Promise<void> {
  for (const piece of pieces(members, most)) {
    await wire.send(commandOn([verb, key], piece), 1, (reply) => void integerIn(reply, peer))
    await tell()
  }
}

/** All sets are read in one go, then all that have some of these ids are changed in one. */
async function removeFromSets({ wire, peer }: Node, sets: Page, ids: ReadonlySet<string>): Promise<void> {
  const keys: Buffer[] = []
  eachKey(sets, (_, start, end) => keys.push(sets.bytes.subarray(start, end)))
  const commands: Buffer[] = []
  let asked = 0
  let sent = 0
  await wire.send([commandForEach(['SMEMBERS'], sets)], sets.count, (reply) => {
    const key = keys[asked]!
    asked += 1
    // another program's by now
    if (errorIn(reply)?.startsWith('WRONGTYPE ')) return
    assertAnswer(reply, peer)
    for (const piece of pieces(only(listIn(reply), ids), most)) {
      commands.push(...commandOn(['SREM', key], piece))
      sent += 1
    }
  })
  await wire.send(commands, sent, (reply) => void integerIn(reply, peer))
}

/** The members that stand for those ids. */
function only(members: Page, ids: ReadonlySet<string>): Page {
  const inOrder = memberIds(members)
  return pick(members, (index) => ids.has(inOrder[index]!))
}
