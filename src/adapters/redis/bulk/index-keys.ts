import { expiresMember, literally, sessionKeys } from '../../../knowledge/session-keys.ts'
import { listAt, scan } from './node.ts'
import type { Node } from './node.ts'
import { command, eachKey } from './page.ts'
import type { Page } from './page.ts'
import { eachId, pick } from './collect.ts'

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
