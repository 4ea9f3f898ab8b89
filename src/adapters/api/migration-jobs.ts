import type { ApiSource, MigrationJob, MigrationJobWish } from '../../core/sources.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { ApiSession } from './session.ts'

const path = '/api/migration/job'
/** statuses of a service that does not offer the method */
const absent = [404, 405, 501]
/** jobs to request per page; a service may send fewer */
const pageSizes = { least: 100, most: 500 }
/** lowest limit on the number of pages, in case the service sends small ones */
const fewPages = 20

/** Lists the newest of the requested jobs, filtered here too; null if the service does not offer the method. */
export async function migrationJobs(
  session: ApiSession,
  { status, newerThan = -1, atMost }: MigrationJobWish,
): ReturnType<ApiSource['migrationJobs']> {
  const size = Math.min(pageSizes.most, Math.max(pageSizes.least, atMost))
  const mostPages = Math.max(fewPages, Math.ceil(atMost / size))
  const found = new Map<number, MigrationJob>()
  let complete = false
  for (let page = 0; page < mostPages && !complete && found.size < atMost; page += 1) {
    const read = await pageOf(session, { ...(status !== null && { status }), page: String(page), size: String(size) })
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
async function pageOf(
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
      createdAt: dateOf(item['createdDate']),
      modifiedAt: dateOf(item['lastModifiedDate']),
    }))
    .sort((a, b) => b.id - a.id)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function dateOf(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? null : date
}
