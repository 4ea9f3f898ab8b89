import { expiresMember, literally, sessionKeys } from '../../../knowledge/sessions.ts'
import type { Node } from './node.ts'
import { listAt, scan, timesOf } from './node.ts'
import type { Page } from './page.ts'
import { command, eachKey } from './page.ts'

/** Keys of one key space on one server, as pages. */
export interface Space {
  /** Hashes shaped like sessions, with an id as Spring makes it */
  sessions: Page[]
  /** Hashes with another kind of id: sessions if they have a session's times */
  unsure: Page[]
}

/** Finds hashes that look like sessions, by key space: those of `namespace`, or of all if it is null. */
export async function sessionHashes(node: Node, namespace: string | null): Promise<Map<string, Space>> {
  const spaces = new Map<string, Space>()
  const spaceOf = (name: string): Space => {
    const known = spaces.get(name)
    if (known) return known
    const fresh = { sessions: [], unsure: [] }
    spaces.set(name, fresh)
    return fresh
  }
  let usual = namespace
  const match = `${namespace === null ? '*' : literally(namespace)}:sessions:*`
  for await (const page of scan(node, { match, type: 'hash' })) {
    if (usual !== null && isUniform(page, Buffer.from(usual))) {
      spaceOf(usual).sessions.push(page)
      continue
    }
    for (const { name, sure, part } of split(page)) {
      if (namespace !== null && name !== namespace) continue
      usual = name
      spaceOf(name)[sure ? 'sessions' : 'unsure'].push(part)
    }
  }
  return spaces
}

/** Returns the keys that have a session's times: with another kind of id, these are the sessions (FIELD-NOTES.md 4). */
export async function withTimes(node: Node, pages: readonly Page[]): Promise<Page[]> {
  const kept: Page[] = []
  for (const page of pages) {
    const times = await timesOf(node, page)
    kept.push(pick(page, (index) => times[index] !== null))
  }
  return kept.filter(({ count }) => count > 0)
}

/** Returns the keys of a page at the chosen places; the page itself if these are all. */
export function pick(page: Page, isMeant: (index: number) => boolean): Page {
  const kept: Buffer[] = []
  let index = 0
  eachKey(page, (from, _, end) => {
    if (isMeant(index)) kept.push(page.bytes.subarray(from, end + 2))
    index += 1
  })
  return kept.length === page.count ? page : { bytes: Buffer.concat(kept), count: kept.length }
}

/** Calls `visit` with the id of each key: what follows its last colon. */
export function eachId(page: Page, visit: (id: string, index: number) => void): void {
  let index = 0
  eachKey(page, (_, start, end) => {
    visit(page.bytes.toString('latin1', lastColon(page.bytes, start, end) + 1, end), index)
    index += 1
  })
}

/** True if all keys are sessions of one key space with ids as Spring makes them, as is usual in a large store. */
function isUniform(page: Page, namespace: Buffer): boolean {
  const { bytes } = page
  let isSo = true
  eachKey(page, (_, start, end) => {
    if (!isSo) return
    const before = namespaceEnd(bytes, start, end)
    isSo = before - start === namespace.length && isUuid(bytes, before + tag.length, end)
    for (let at = 0; isSo && at < namespace.length; at += 1) isSo = bytes[start + at] === namespace[at]
  })
  return isSo
}

/** Groups keys shaped like sessions by key space and kind of id. */
function split({ bytes, count }: Page): { name: string; sure: boolean; part: Page }[] {
  const parts = new Map<string, { name: string; sure: boolean; keys: Buffer[] }>()
  eachKey({ bytes, count }, (from, start, end) => {
    const before = namespaceEnd(bytes, start, end)
    if (before <= start) return
    const name = bytes.toString('utf8', start, before)
    const sure = isUuid(bytes, before + tag.length, end)
    const part = parts.get(`${sure}${name}`) ?? { name, sure, keys: [] }
    parts.set(`${sure}${name}`, part)
    part.keys.push(bytes.subarray(from, end + 2))
  })
  return [...parts.values()].map(({ name, sure, keys }) => ({
    name,
    sure,
    part: { bytes: Buffer.concat(keys), count: keys.length },
  }))
}

const tag = Buffer.from(':sessions:')

/** Returns where the key space ends in `SPACE:sessions:ID`, whose id has no colon; -1 for any other key. */
function namespaceEnd(bytes: Buffer, start: number, end: number): number {
  const colon = lastColon(bytes, start, end)
  const before = colon - tag.length + 1
  if (colon === end - 1 || before <= start) return -1
  for (let at = 0; at < tag.length; at += 1) if (bytes[before + at] !== tag[at]) return -1
  return before
}

function lastColon(bytes: Buffer, start: number, end: number): number {
  let at = end - 1
  while (at >= start && bytes[at] !== 0x3a) at -= 1
  return at
}

function isUuid(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== 36) return false
  for (let at = 0; at < 36; at += 1) {
    const byte = bytes[start + at]!
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (byte !== 0x2d) return false
    } else if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46)))
      return false
  }
  return true
}

/** The keys that an indexed repository keeps beside the hashes, on one server (FIELD-NOTES.md 4). */
export interface IndexKeys {
  /** strings `expires:ID` */
  marks: Page[]
  /** sets of ids, one per user */
  users: Page[]
  /** sets of ids, one per minute */
  minutes: Page[]
  /** True if the sorted set of ids, which replaces those, is here */
  sorted: boolean
}

export async function indexKeys(node: Node, namespace: string): Promise<IndexKeys> {
  const found: IndexKeys = { marks: [], users: [], minutes: [], sorted: false }
  const shapes = [
    { of: sessionKeys.expires(namespace, ''), type: 'string', into: found.marks },
    { of: sessionKeys.userIndex(namespace, ''), type: 'set', into: found.users },
    { of: sessionKeys.expirations(namespace, ''), type: 'set', into: found.minutes },
  ] as const
  for (const { of, type, into } of shapes) {
    for await (const page of scan(node, { match: `${literally(of)}*`, type })) {
      const isSo =
        of === sessionKeys.userIndex(namespace, '') ? () => true : hasNoColonAfter(page, Buffer.byteLength(of))
      const own = pick(page, isSo)
      if (own.count > 0) into.push(own)
    }
  }
  found.sorted = await hasSorted(node, namespace)
  return found
}

/** True if any key is named like one of these. Looks through all keys, up to the first of them. */
export async function mayBeIndexed(node: Node, namespace: string): Promise<boolean> {
  if (await hasSorted(node, namespace)) return true
  // only their names have this letter before a colon: index, expires, expirations
  const names = scan(node, { match: `${literally(namespace)}:*x*:*`, type: null })
  return (await names.next()).done !== true
}

async function hasSorted(node: Node, namespace: string): Promise<boolean> {
  return ((await listAt(node, command('ZRANGE', sessionKeys.sortedExpirations(namespace), '0', '0')))?.count ?? 0) > 0
}

/** Returns only the marks of these sessions. */
export function marksOf({ marks }: IndexKeys, ids: ReadonlySet<string>): Page[] {
  const own = marks.map((page) => {
    const isMeant: boolean[] = []
    eachId(page, (id) => isMeant.push(ids.has(id)))
    return pick(page, (index) => isMeant[index]!)
  })
  return own.filter(({ count }) => count > 0)
}

export function isIndexed({ marks, users, minutes, sorted }: IndexKeys): boolean {
  return marks.length > 0 || users.length > 0 || minutes.length > 0 || sorted
}

/** Counts the keys other than marks. */
export function indexSize({ users, minutes, sorted }: IndexKeys): number {
  return [...users, ...minutes].reduce((sum, { count }) => sum + count, sorted ? 1 : 0)
}

/** Returns the members of a set or sorted set of ids; null if it is empty or missing, or on another server. */
export async function membersOf(node: Node, key: Buffer | string, sorted = false): Promise<Page | null> {
  const found = await listAt(node, sorted ? command('ZRANGE', key, '0', '-1') : command('SMEMBERS', key))
  return found !== null && found.count > 0 ? found : null
}

/** Returns the id of each member, whether serialised by Java, as JSON, or plain. */
export function memberIds(page: Page): string[] {
  const ids: string[] = []
  eachKey(page, (_, start, end) => {
    const text = page.bytes
      .toString('latin1', isJavaString(page.bytes, start) ? start + 7 : start, end)
      .replace(/^"(.*)"$/s, '$1')
    ids.push(text.startsWith(expiresMember) ? text.slice(expiresMember.length) : text)
  })
  return ids
}

function isJavaString(bytes: Buffer, start: number): boolean {
  return bytes[start] === 0xac && bytes[start + 1] === 0xed && bytes[start + 4] === 0x74
}

function hasNoColonAfter(page: Page, length: number): (index: number) => boolean {
  const isSo: boolean[] = []
  eachKey(page, (_, start, end) => {
    const colon = page.bytes.indexOf(0x3a, start + length)
    isSo.push(end > start + length && (colon < 0 || colon >= end))
  })
  return (index) => isSo[index]!
}
