import { AdminError } from '../../core/error.ts'
import type { ApiSource, MigrationJob, MigrationJobWish, NamedItem } from '../../core/sources.ts'
import type { ClockSample } from '../clock.ts'
import { offsetFrom } from '../clock.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { ApiSession } from './session.ts'
import { healthPath, userPath } from './session.ts'
import { exchangePath } from './token.ts'

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
    `GET ${session.http.peer.where}${path} returns too many pages: more than ${mostPages}`,
  )
}

/** Lists the projects that the user can see; null if the service cannot list them. */
async function listProjects(session: ApiSession): Promise<NamedItem[] | null> {
  const found = await listOf(session, '/api/project')
  return Array.isArray(found) ? found : null
}

/** Returns a function that lists the trees of a project; null if the service cannot list them. */
function treeLists(session: ApiSession): (project: number) => Promise<NamedItem[] | null> {
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

const path = '/api/migration/job'
/** jobs to request per page; a service may send fewer */
const pageSizes = { least: 100, most: 500 }
/** lowest limit on the number of pages, in case the service sends small ones */
const fewPages = 20

/** Lists the newest of the requested jobs, filtered here too; null if the service does not offer the method. */
async function migrationJobs(
  session: ApiSession,
  { status, newerThan = -1, atMost }: MigrationJobWish,
): ReturnType<ApiSource['migrationJobs']> {
  const size = Math.min(pageSizes.most, Math.max(pageSizes.least, atMost))
  const mostPages = Math.max(fewPages, Math.ceil(atMost / size))
  const found = new Map<number, MigrationJob>()
  let complete = false
  for (let page = 0; page < mostPages && !complete && found.size < atMost; page += 1) {
    const read = await pageOfJobs(session, {
      ...(status !== null && { status }),
      page: String(page),
      size: String(size),
    })
    if (read === null) return null
    const newer = read.jobs.filter((job) => job.id > newerThan)
    const before = found.size
    for (const job of newer) found.set(job.id, job)
    // a server without paging sends the same jobs each time
    complete = read.isLast || newer.length < read.jobs.length || found.size === before
  }
  const jobs = [...found.values()].filter((job) => status === null || job.status === status).sort((a, b) => b.id - a.id)
  return { complete: complete && jobs.length <= atMost, jobs: jobs.slice(0, atMost) }
}

/** Reads a page of jobs, newest first; null if the service does not offer the method. */
async function pageOfJobs(
  session: ApiSession,
  query: Readonly<Record<string, string>>,
): Promise<{ jobs: MigrationJob[]; isLast: boolean } | null> {
  const asked = new URLSearchParams({ ...query, sort: 'id,DESC' })
  const answer = await session.read(`${path}?${asked.toString()}`)
  if (absent.includes(answer.status)) return null
  const value = jsonOf(answer)
  const jobs = answer.status === 200 ? jobsIn(value) : null
  if (jobs === null) throw session.refusal('GET', path, answer)
  return { jobs, isLast: jobs.length === 0 || !isRecord(value) || value['last'] === true }
}

/** Parses a page of jobs, or a bare list from older servers (FIELD-NOTES.md 7), newest first; null if it is neither. */
function jobsIn(value: unknown): MigrationJob[] | null {
  const list = Array.isArray(value) ? value : isRecord(value) ? value['content'] : undefined
  if (!Array.isArray(list)) return null
  return list
    .filter(isRecord)
    .map((item) => ({
      id: Number(item['id'] ?? 0),
      name: textOf(item['name']),
      status: textOf(item['status']),
      createdAt: dateOfJob(item['createdDate']),
      modifiedAt: dateOfJob(item['lastModifiedDate']),
    }))
    .sort((a, b) => b.id - a.id)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function dateOfJob(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Reads what the API shows (SPEC.md 4, FIELD-NOTES.md 7). */
export function apiSource(session: ApiSession): ApiSource {
  const { http, timeoutMs } = session
  const trees = treeLists(session)

  const ask = async (): Promise<Sample[]> => {
    const taken: Sample[] = []
    const started = performance.now()
    // stops after a third of the time limit: by then it is clear that the service is slow
    while (taken.length < 5 && performance.now() - started < timeoutMs / 3) {
      const before = Date.now()
      const left = performance.now()
      const answer = await http.request(healthPath)
      taken.push({ answer, before, tookMs: performance.now() - left })
    }
    return taken
  }
  let asking: Promise<Sample[]> | null = null
  /** Measures the speed and the clock of the service with a few requests. Concurrent callers share them. */
  const samples = async (): Promise<Sample[]> => (asking ??= ask().finally(() => (asking = null)))

  return {
    target: http.peer.where,
    async health() {
      const answer = await http.request(healthPath)
      return { httpStatus: answer.status, status: healthOf(answer), durationMs: Math.round(answer.durationMs) }
    },
    recognized: async () => recognized(session),
    async clock() {
      // the header shows whole seconds; if a proxy replaces it, this measures the proxy's clock
      const looks = (await samples()).map(({ answer, ...look }) => ({ ...look, theirs: dateOf(answer, http) }))
      return offsetFrom(looks, 1000)
    },
    accessToken: async () => (await session.token()).facts,
    async currentUser() {
      const answer = await session.read(userPath)
      const user = jsonOf(answer)
      if (answer.status !== 200 || !isRecord(user)) throw session.refusal('GET', userPath, answer)
      return user
    },
    latencies: async () =>
      (await samples())
        .filter(({ answer }) => healthOf(answer) !== null)
        .map(({ answer }) => Math.round(answer.durationMs)),
    migrationJobs: async (wish) => migrationJobs(session, wish),
    projects: async () => listProjects(session),
    trees,
  }
}

interface Sample extends Omit<ClockSample, 'theirs'> {
  answer: HttpAnswer
}

/** Returns Spring's health status; null if the answer is not Spring's. */
function healthOf(answer: HttpAnswer): string | null {
  const value = jsonOf(answer)
  return isRecord(value) && typeof value['status'] === 'string' ? value['status'] : null
}

function dateOf(answer: HttpAnswer, http: HttpClient): number {
  const date = Date.parse(answer.headers['date'] ?? '')
  if (!Number.isNaN(date)) return date
  throw new AdminError('UNEXPECTED_ANSWER', `${http.peer.where} sends no valid \`Date\` header`, http.peer.suggestions)
}

/** Verifies that this is the service, by paths it documents besides its health (SPEC.md 4.1, 4.2). Throws EXHAUSTED. */
async function recognized(session: ApiSession): ReturnType<ApiSource['recognized']> {
  try {
    await session.token()
    return { isService: true, shown: `POST ${exchangePath} exchanges the API token` }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'EXHAUSTED') throw error
    const isOpen = error.code === 'UNAUTHENTICATED' || error.code === 'NOT_CONFIGURED'
    const wants = isOpen && (await wantsToken(session))
    return wants
      ? { isService: true, shown: `GET ${userPath} requires a Bearer token` }
      : { isService: false, shown: error.message }
  }
}

/** True if the API wants a token and health does not. If both want one, a proxy guards the whole address. */
async function wantsToken({ http }: ApiSession): Promise<boolean> {
  const [user, health] = [await http.request(userPath), await http.request(healthPath)]
  const isApi = isRecord(jsonOf(user)) || /^bearer\b/i.test(user.headers['www-authenticate'] ?? '')
  return user.status === 401 && isApi && health.status !== 401
}
