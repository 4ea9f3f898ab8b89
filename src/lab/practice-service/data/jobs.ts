import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../../core/error.ts'
import { sqlException } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import type { JdbcAddress } from '../settings.ts'
import type { Log } from '../log/log.ts'
import { summary, throwable } from '../log/log.ts'
import type { Window, Windowed } from './projects.ts'
import { dateColumns, windowed } from './projects.ts'

type JobStatus = 'IN_PROGRESS' | 'FAILED' | 'COMPLETED' | 'STOPPED' | 'CANCELLED'

/** Times in epoch milliseconds. */
interface Job {
  id: number
  name: string
  status: JobStatus
  createdDate: number
  lastModifiedDate: number
}

interface JobDetails extends Job {
  /** why it failed */
  context: string | null
  /** the project whose tree it moves */
  projectId: number | null
}

const columns = `id::int AS id, name, status, ${dateColumns}`

/** Which trees to move: those that match every field present. */
interface ChosenTrees {
  projectId?: number
  treeId?: number
  /** only trees whose data still has the old structure; one that failed is tried again only when it is asked for */
  unmigrated?: boolean
}

interface TreeJob {
  job: number
  treeId: number
  projectId: number
}

/** Makes a job for each chosen tree, all in one statement. */
function createTreeJobs(
  database: Database,
  { projectId, treeId, unmigrated = false }: ChosenTrees,
): Promise<TreeJob[]> {
  return database.query<TreeJob>(
    `INSERT INTO async_job (name, status, project_id, tree_id)
     SELECT format('test-case-tree-migration: project %s, tree %s', project_id, id), 'IN_PROGRESS', project_id, id
     FROM tree
     WHERE ($1::bigint IS NULL OR project_id = $1) AND ($2::bigint IS NULL OR id = $2)
       AND NOT ($3::boolean AND (
         migrated OR EXISTS (SELECT FROM async_job job WHERE job.tree_id = tree.id AND job.status = 'FAILED')))
     ORDER BY id
     RETURNING id::int AS job, tree_id::int AS "treeId", project_id::int AS "projectId"`,
    [projectId ?? null, treeId ?? null, unmigrated],
  )
}

async function finishJob(database: Database, id: number, status: JobStatus, context: string | null): Promise<void> {
  await database.query(
    'UPDATE async_job SET status = $2, context = $3, last_modified_date = now() WHERE id = $1 AND status = ' +
      "'IN_PROGRESS'",
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

/** Of a timeout or of an administrator (PostgreSQL documentation, Appendix A). */
const queryCanceled = '57014'

const logger = 'vendor.report.tree.TestCaseTreeNodeMigrationService'

export interface TreeMigration {
  /** makes a job for each chosen tree, and runs the jobs in the background, one by one; returns their number */
  begin(chosen: ChosenTrees): Promise<number>
  /** skips a job that has not begun; a running one finishes, but counts as cancelled */
  cancel(job: number): Promise<void>
  /** waits up to 1 s for the jobs to finish; the rest stay unfinished */
  stop(): Promise<void>
}

/** Runs "clear and load" jobs, which move a tree's data to the new structure (SPEC.md 4.3 and 4.4). */
export function treeMigration(database: Database, address: JdbcAddress, log: Log): TreeMigration {
  const here = log.from('task-1')
  let waiting: TreeJob[] = []
  let working = false
  let done: Promise<void> = Promise.resolve()
  let stopped = false
  const work = async ({ job, treeId, projectId }: TreeJob): Promise<void> => {
    try {
      await load(database, treeId)
      await finishJob(database, job, 'COMPLETED', null)
    } catch (error) {
      if (stopped) return
      const thrown = sqlException(error, address)
      const kind = codeOf(error) === queryCanceled ? 'QueryTimeoutException' : 'DataIntegrityViolationException'
      here.error(
        logger,
        `Migration of tree ${treeId} of project ${projectId} failed`,
        throwable(`org.springframework.dao.${kind}`, `could not execute statement [${summary(thrown)}]`, [], thrown),
      )
      // a lost database leaves the job unfinished, as a stopped service does
      await finishJob(database, job, 'FAILED', summary(thrown)).catch(() => undefined)
    }
  }
  const workOff = async (): Promise<void> => {
    working = true
    for (let next = waiting.shift(); next && !stopped; next = waiting.shift()) await work(next)
    working = false
  }
  return {
    begin: async (chosen) => {
      const made = await createTreeJobs(database, chosen)
      for (const it of made) waiting.push(it)
      if (!working) done = workOff()
      return made.length
    },
    cancel: async (job) => {
      waiting = waiting.filter((it) => it.job !== job)
      await finishJob(database, job, 'CANCELLED', null)
    },
    stop: async () => {
      await Promise.race([done, sleep(1000, undefined, { ref: false })])
      stopped = true
    },
  }
}

/** Moves one tree in one statement, so in one transaction. Each of its parts sees the tables as they were before. */
async function load(database: Database, treeId: number): Promise<void> {
  await database.query(
    `WITH cleared AS (DELETE FROM tree_node WHERE tree_id = $1),
       loaded AS (
         INSERT INTO tree_node (tree_id, test_case_id, depth, name)
         SELECT d.tree_id, d.test_case_id, step.depth, step.name
         FROM tree_data d, jsonb_array_elements_text(d.path::jsonb) WITH ORDINALITY AS step (name, depth)
         WHERE d.tree_id = $1)
     UPDATE tree SET migrated = TRUE WHERE id = $1 AND NOT migrated`,
    [treeId],
  )
}
