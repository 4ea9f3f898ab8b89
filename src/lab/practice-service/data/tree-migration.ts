import { setTimeout as sleep } from 'node:timers/promises'
import { sqlException } from '../database/errors.ts'
import type { Database } from '../database/pool.ts'
import type { JdbcAddress } from '../jdbc-url.ts'
import type { Log } from '../log/log.ts'
import { summary, throwable } from '../log/throwable.ts'
import { createTreeJobs, finishJob } from './jobs.ts'
import type { ChosenTrees, TreeJob } from './jobs.ts'

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
      here.error(
        logger,
        `Migration of tree ${treeId} of project ${projectId} failed`,
        throwable(
          'org.springframework.dao.DataIntegrityViolationException',
          `could not execute statement [${summary(thrown)}]`,
          [],
          thrown,
        ),
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
         FROM tree_data d, jsonb_array_elements_text(d.path::jsonb) WITH ORDINALITY AS step (name, depth) WHERE d.tree_id = $1)
     UPDATE tree SET migrated = TRUE WHERE id = $1 AND NOT migrated`,
    [treeId],
  )
}
