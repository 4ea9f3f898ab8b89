import type { Removal, RemovalOptions } from '../../../core/controls.ts'
import { AdminError } from '../../../core/error.ts'
import { counted, grouped } from '../../../core/format.ts'
import { sessionKeys } from '../../../knowledge/sessions.ts'
import { timeFields } from '../sample.ts'
import type { IndexKeys } from './collect.ts'
import { indexSize, memberIds, membersOf, pick } from './collect.ts'
import type { Counted } from './count.ts'
import { total } from './count.ts'
import type { Node } from './node.ts'
import type { Page } from './page.ts'
import {
  assertAnswer,
  command,
  commandForEach,
  commandOn,
  eachKey,
  errorIn,
  integerIn,
  listIn,
  pieces,
} from './page.ts'

/** UNLINK frees the memory in the background. DEL frees it at once, for users who may use only that. */
export type RemovalVerb = 'UNLINK' | 'DEL'

/** rounds of removing what came back: a request under way writes its session once more */
const maxRounds = 5

/**
 * Removes what was counted: first its index entries, then its marks, then the sessions. In this order, a session
 * without index entries can always be found again. Verifies that none is left through `anew`: the same nodes on other
 * connections.
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

/** Sums up the store's answers to a command on all keys of those pages, with several under way at a time. */
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

/** Removes again what a request under way has written back. Throws FAILED if it comes back again and again. */
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
    `${counted(count, 'key')} of removed sessions came back ${maxRounds} times, because the users of these ` +
      'sessions keep sending requests',
    [
      'testops-admin flush-sessions --stale -d {deployment}   # run this later to remove the sessions that ' +
        'came back: without a creationTime, they count as stale',
    ],
  )
}

function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}

/** sets to read at a time, and members to remove per command: some ms of the server's time */
const most = 1000

/**
 * Removes those ids from the index by user, and from the index by end. Reads every user's set, since the user of a
 * session is in data that is never read. Awaits `tell` with the number of keys read since; `tell` ends it by throwing.
 */
async function removeEntries(
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

/** Removes members from one set. */
async function takeOut(
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

/** Reads all sets in one batch, then changes those with some of these ids in another. */
async function removeFromSets({ wire, peer }: Node, sets: Page, ids: ReadonlySet<string>): Promise<void> {
  const keys: Buffer[] = []
  eachKey(sets, (_, start, end) => keys.push(sets.bytes.subarray(start, end)))
  const commands: Buffer[] = []
  let asked = 0
  let sent = 0
  await wire.send([commandForEach(['SMEMBERS'], sets)], sets.count, (reply) => {
    const key = keys[asked]!
    asked += 1
    // the key is another program's by now
    if (errorIn(reply)?.startsWith('WRONGTYPE ')) return
    assertAnswer(reply, peer)
    for (const piece of pieces(only(listIn(reply), ids), most)) {
      commands.push(...commandOn(['SREM', key], piece))
      sent += 1
    }
  })
  await wire.send(commands, sent, (reply) => void integerIn(reply, peer))
}

/** Returns the members that stand for those ids. */
function only(members: Page, ids: ReadonlySet<string>): Page {
  const inOrder = memberIds(members)
  return pick(members, (index) => ids.has(inOrder[index]!))
}

/** pages under way at a time, so that the server always has one to work on */
const inFlight = 4

/**
 * Runs work on every page, several at a time. Awaits `tell` after each; if it throws, this ends once running work is
 * done.
 */
async function onEach(
  pages: readonly Page[],
  work: (page: Page) => Promise<void>,
  tell: (count: number) => Promise<void>,
): Promise<void> {
  const underWay: { done: Promise<void>; count: number }[] = []
  const settleOne = async (): Promise<void> => {
    const { done, count } = underWay.shift()!
    await done
    await tell(count)
  }
  try {
    for (const page of pages) {
      const done = work(page)
      done.catch(() => undefined)
      underWay.push({ done, count: page.count })
      if (underWay.length >= inFlight) await settleOne()
    }
    while (underWay.length > 0) await settleOne()
  } catch (error) {
    await Promise.allSettled(underWay.map(({ done }) => done))
    throw error
  }
}

/** most keys to check in one step; meanwhile the store answers nobody, for some 0.2 s */
const mostAtOnce = 50_000

/**
 * Checks every key by name and type, and empties the database if all belong to the key space, in one instant. Counts
 * cannot show that: they stay the same if a session ends as another program's key arrives. Answers 1; 0 if a key does
 * not belong to the key space; -1 if there are too many keys.
 */
const script = `
local session, mark, user, minute, sorted = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local four = '%x%x%x%x'
local uuid = '^' .. four .. four .. '%-' .. four .. '%-' .. four .. '%-' .. four .. '%-' .. four .. four .. four .. '$'
local function after(key, prefix)
  return string.sub(key, 1, #prefix) == prefix and #key > #prefix and string.sub(key, #prefix + 1) or nil
end
local function isId(text)
  return text and not string.find(text, ':', 1, true)
end
local function hasTimes(key)
  for _, value in ipairs(redis.call('HMGET', key, ARGV[7], ARGV[8], ARGV[9])) do
    if value then return true end
  end
  return false
end
local function isOwn(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then
    local id = after(key, session)
    return isId(id) and (string.find(id, uuid) or hasTimes(key))
  end
  if kind == 'string' then return isId(after(key, mark)) end
  if kind == 'set' then return after(key, user) or isId(after(key, minute)) end
  return kind == 'zset' and key == sorted
end
if redis.call('DBSIZE') > tonumber(ARGV[6]) then return -1 end
local cursor = '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if not isOwn(key) then return 0 end
  end
until cursor == '0'
redis.call('FLUSHDB', 'ASYNC')
return 1`

/**
 * Empties the database and returns null, if it holds only sessions of that key space and their index. Otherwise returns
 * the reason why not.
 */
export async function flushIfOnly({ wire, peer }: Node, namespace: string): Promise<string | null> {
  const shapes = [
    sessionKeys.session(namespace, ''),
    sessionKeys.expires(namespace, ''),
    sessionKeys.userIndex(namespace, ''),
    sessionKeys.expirations(namespace, ''),
    sessionKeys.sortedExpirations(namespace),
  ]
  let why: string | null = null
  await wire.send([command('EVAL', script, '0', ...shapes, String(mostAtOnce), ...timeFields)], 1, (reply) => {
    if (errorIn(reply) !== null)
      why =
        'Redis does not let this user empty the database in one command (`FLUSHDB` is disabled, renamed or forbidden)'
    else why = reasons[integerIn(reply, peer)] ?? null
  })
  return why
}

const reasons: Readonly<Record<number, string>> = {
  0: 'this database contains a key that is not a session',
  [-1]: `this database contains more than ${grouped(mostAtOnce)} keys, too many to check in one step`,
}
