import type { MigrationJob } from '../../core/sources.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { ApiSession } from './session.ts'

const path = '/api/migration/job'
/** what answers so does not offer the method */
const absent = [404, 405, 501]
/** of a page; a service may give less */
const pageSize = 500
const mostPages = 1000

/** The newest jobs; null where the service does not offer the method. */
export async function newestJobs(session: ApiSession): Promise<MigrationJob[] | null> {
  return (await pageOf(session, { page: '0', size: '100' }))?.jobs ?? null
}

/** All in that state that are newer than the one of that number, whether or not the service knows how to choose them. */
export async function jobsSince(session: ApiSession, id: number, status: string): Promise<MigrationJob[] | null> {
  const found = new Map<number, MigrationJob>()
  for (let page = 0; page < mostPages; page += 1) {
    const read = await pageOf(session, { status, page: String(page), size: String(pageSize) })
    if (read === null) return null
    const newer = read.jobs.filter((job) => job.id > id)
    const before = found.size
    for (const job of newer) found.set(job.id, job)
    // a server that does not know pages gives the same each time
    if (read.isLast || newer.length < read.jobs.length || found.size === before) break
  }
  return [...found.values()].filter((job) => job.status === status).sort((a, b) => b.id - a.id)
}

async function pageOf(session: ApiSession, query: Readonly<Record<string, string>>): Promise<{ jobs: MigrationJob[]; isLast: boolean } | null> {
  const asked = new URLSearchParams({ ...query, sort: 'id,DESC' })
  const answer = await session.read(`${path}?${asked.toString()}`)
  if (absent.includes(answer.status)) return null
  const value = jsonOf(answer)
  const jobs = answer.status === 200 ? migrationJobs(value) : null
  if (jobs === null) throw session.refusal('GET', path, answer)
  return { jobs, isLast: jobs.length === 0 || !isRecord(value) || value['last'] === true }
}

/** A page of migration jobs, or a bare list as older servers give it (FIELD-NOTES.md 7), newest first; null: neither. */
function migrationJobs(value: unknown): MigrationJob[] | null {
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
