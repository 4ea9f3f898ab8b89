import type { Database } from '../database/pool.ts'

export type JobStatus = 'IN_PROGRESS' | 'FAILED' | 'COMPLETED' | 'STOPPED' | 'CANCELLED'

/** Times in epoch milliseconds. */
export interface Job {
  id: number
  name: string
  status: JobStatus
  createdDate: number
  lastModifiedDate: number
  context: string | null
}

const columns = `id::int AS id, name, status, context, (extract(epoch FROM created_date) * 1000)::float8 AS "createdDate",
  (extract(epoch FROM last_modified_date) * 1000)::float8 AS "lastModifiedDate"`

export async function createJob(database: Database, name: string): Promise<number> {
  const rows = await database.query<{ id: number }>(
    "INSERT INTO async_job (name, status) VALUES ($1, 'IN_PROGRESS') RETURNING id::int AS id",
    [name],
  )
  return rows[0]!.id
}

export async function finishJob(database: Database, id: number, status: JobStatus, context: string | null): Promise<void> {
  await database.query(
    "UPDATE async_job SET status = $2, context = $3, last_modified_date = now() WHERE id = $1 AND status = 'IN_PROGRESS'",
    [id, status, context],
  )
}

export async function jobs(database: Database, status: string | null): Promise<Job[]> {
  return rounded(await database.query<Job>(`SELECT ${columns} FROM async_job WHERE $1::text IS NULL OR status = $1`, [status]))
}

export async function job(database: Database, id: number): Promise<Job | null> {
  return rounded(await database.query<Job>(`SELECT ${columns} FROM async_job WHERE id = $1`, [id]))[0] ?? null
}

function rounded(rows: Job[]): Job[] {
  return rows.map((row) => ({
    ...row,
    createdDate: Math.round(row.createdDate),
    lastModifiedDate: Math.round(row.lastModifiedDate),
  }))
}
