import type { Database } from '../database/pool.ts'
import { dateColumns, windowed } from './window.ts'
import type { Window, Windowed } from './window.ts'

export type JobStatus = 'IN_PROGRESS' | 'FAILED' | 'COMPLETED' | 'STOPPED' | 'CANCELLED'

/** Times in epoch milliseconds. */
export interface Job {
  id: number
  name: string
  status: JobStatus
  createdDate: number
  lastModifiedDate: number
}

export interface JobDetails extends Job {
  /** why it failed */
  context: string | null
  /** the project whose tree it moves */
  projectId: number | null
}

const columns = `id::int AS id, name, status, ${dateColumns}`

/** Which trees to move: those that match every field present. */
export interface ChosenTrees {
  projectId?: number
  treeId?: number
  /** only trees whose data still has the old structure */
  unmigrated?: boolean
}

export interface TreeJob {
  job: number
  treeId: number
  projectId: number
}

/** Makes a job for each chosen tree, all in one statement. */
export function createTreeJobs(
  database: Database,
  { projectId, treeId, unmigrated = false }: ChosenTrees,
): Promise<TreeJob[]> {
  return database.query<TreeJob>(
    `INSERT INTO async_job (name, status, project_id, tree_id)
     SELECT format('test-case-tree-migration: project %s, tree %s', project_id, id), 'IN_PROGRESS', project_id, id FROM tree
     WHERE ($1::bigint IS NULL OR project_id = $1) AND ($2::bigint IS NULL OR id = $2) AND NOT ($3::boolean AND migrated) ORDER BY id
     RETURNING id::int AS job, tree_id::int AS "treeId", project_id::int AS "projectId"`,
    [projectId ?? null, treeId ?? null, unmigrated],
  )
}

export async function finishJob(
  database: Database,
  id: number,
  status: JobStatus,
  context: string | null,
): Promise<void> {
  await database.query(
    "UPDATE async_job SET status = $2, context = $3, last_modified_date = now() WHERE id = $1 AND status = 'IN_PROGRESS'",
    [id, status, context],
  )
}

export function jobs(database: Database, status: string | null, window: Window): Promise<Windowed<Job>> {
  const from = 'async_job WHERE $1::text IS NULL OR status = $1'
  const sortable = {
    id: 'id',
    name: 'name',
    status: 'status',
    createdDate: 'created_date',
    lastModifiedDate: 'last_modified_date',
  }
  return windowed(database, { columns, from, values: [status], sortable, id: 'id' }, window)
}

export async function job(database: Database, id: number): Promise<JobDetails | null> {
  const [found] = await database.query<JobDetails>(
    `SELECT ${columns}, context, project_id::int AS "projectId" FROM async_job WHERE id = $1`,
    [id],
  )
  return found ?? null
}
