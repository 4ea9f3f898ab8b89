import { AdminError } from '../../core/error.ts'
import type { NamedItem } from '../../core/sources.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { HttpAnswer } from '../http.ts'
import type { ApiSession } from './session.ts'

/** statuses of a service that does not offer the method */
const absent = [404, 405, 501]
const pageSize = 500
const mostPages = 2000
/** times that a list is read if it changes meanwhile */
const mostWalks = 3

type Query = Readonly<Record<string, string>>

/**
 * Reads all pages of a list, sorted by id. Returns the first answer if its status is in `absent`. Copes with pages that
 * repeat or shift meanwhile, and with servers that send everything at once or smaller pages than requested.
 */
async function listOf(session: ApiSession, path: string, query: Query = {}): Promise<NamedItem[] | HttpAnswer> {
  const items = new Map<number, NamedItem>()
  for (let walk = 1; walk <= mostWalks; walk++) {
    const total = await walkThrough(session, path, query, items)
    if (typeof total !== 'number' && total !== null) return total
    // if an item was removed meanwhile, later items moved to a page that was already read
    if (total === null || items.size >= total) break
  }
  return [...items.values()].sort((a, b) => a.id - b.id)
}

/**
 * Reads all pages into `items`. Returns the last page's total, null if it has none, or the first answer if `absent`.
 */
async function walkThrough(
  session: ApiSession,
  path: string,
  query: Query,
  items: Map<number, NamedItem>,
): Promise<number | null | HttpAnswer> {
  const seen = new Set<number>()
  for (let number = 0; number < mostPages; number++) {
    const asked = new URLSearchParams({ ...query, page: String(number), size: String(pageSize), sort: 'id,ASC' })
    const answer = await session.read(`${path}?${asked.toString()}`)
    if (number === 0 && absent.includes(answer.status)) return answer
    const page = answer.status === 200 ? pageIn(jsonOf(answer)) : null
    if (page === null) throw session.refusal('GET', path, answer)
    const before = seen.size
    for (const item of page.items) {
      seen.add(item.id)
      items.set(item.id, item)
    }
    // a server without paging sends the same items each time
    if (page.isLast || seen.size === before) return page.total
  }
  throw new AdminError(
    'UNEXPECTED_ANSWER',
    `GET ${session.http.peer.where}${path} never ends: it has more than ${mostPages} pages`,
  )
}

/** Lists the projects that the user can see; null if the service cannot list them. */
export async function listProjects(session: ApiSession): Promise<NamedItem[] | null> {
  const found = await listOf(session, '/api/project')
  return Array.isArray(found) ? found : null
}

/** Returns a function that lists the trees of a project; null if the service cannot list them. */
export function treeLists(session: ApiSession): (project: number) => Promise<NamedItem[] | null> {
  const path = '/api/tree'
  let isOffered = false

  /** True if the method works for a known project other than `other`: then `other` is what is missing. */
  const isMethodThere = async (other: number): Promise<boolean> => {
    const answer = await session.read('/api/project?page=0&size=2&sort=id,ASC')
    const known = (answer.status === 200 ? pageIn(jsonOf(answer))?.items : null) ?? []
    // the project exists, so the method is missing
    if (known.some(({ id }) => id === other)) return false
    const [probe] = known
    return (
      probe !== undefined &&
      (await session.read(`${path}?projectId=${probe.id}&page=0&size=1&sort=id,ASC`)).status === 200
    )
  }

  return async (project) => {
    const found = await listOf(session, path, { projectId: String(project) })
    if (Array.isArray(found)) {
      isOffered = true
      return found
    }
    if (found.status !== 404) return null
    isOffered ||= await isMethodThere(project)
    if (!isOffered) return null
    throw new AdminError(
      'USAGE',
      `project ${project} does not exist at ${session.http.peer.where}, or this API token's user cannot see it`,
    )
  }
}

interface Page {
  items: NamedItem[]
  isLast: boolean
  total: number | null
}

/** Parses a page from Spring, or a bare list from older servers (FIELD-NOTES.md 7); null if it is neither. */
function pageIn(value: unknown): Page | null {
  if (Array.isArray(value)) return pageOf(value, true, null)
  if (!isRecord(value) || !Array.isArray(value['content'])) return null
  const { content, last, number, totalPages, totalElements } = value
  const isLast = content.length === 0 || (typeof last === 'boolean' ? last : Number(number) + 1 >= Number(totalPages))
  return pageOf(content, isLast, typeof totalElements === 'number' ? totalElements : null)
}

/** Returns null if an item has no id: skipping it would hide it. */
function pageOf(list: readonly unknown[], isLast: boolean, total: number | null): Page | null {
  const items = list.flatMap((item) => {
    const id = isRecord(item) ? Number(item['id']) : NaN
    return isRecord(item) && Number.isSafeInteger(id) && id > 0
      ? [{ id, name: typeof item['name'] === 'string' ? item['name'] : '' }]
      : []
  })
  return items.length === list.length ? { items, isLast, total } : null
}
