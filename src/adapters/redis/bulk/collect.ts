import { literally } from '../../../knowledge/session-keys.ts'
import { scan, timesOf } from './node.ts'
import type { Node } from './node.ts'
import { eachKey } from './page.ts'
import type { Page } from './page.ts'

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
