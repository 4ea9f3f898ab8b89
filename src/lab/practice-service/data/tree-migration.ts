import { setTimeout as sleep } from 'node:timers/promises'
import { sqlException } from '../database/errors.ts'
import type { Database } from '../database/pool.ts'
import type { JdbcAddress } from '../jdbc-url.ts'
import type { Log } from '../log/log.ts'
import { summary, throwable } from '../log/throwable.ts'
import { createJob, finishJob } from './jobs.ts'
import type { Tree } from './projects.ts'

const logger = 'vendor.report.tree.TestCaseTreeNodeMigrationService'

export interface TreeMigration {
  /** makes a job for each tree and works on them in the background, one after the other */
  begin(trees: readonly Tree[]): Promise<void>
  /** gives what is under way a moment; what is not done by then stays an unfinished job */
  stop(): Promise<void>
}

/** "Clear and load": moves a tree's data to the new structure (SPEC.md 4.3 and 4.4). */
export function treeMigration(database: Database, address: JdbcAddress, log: Log): TreeMigration {
  const here = log.from('task-1')
  let queue: Promise<void> = Promise.resolve()
  let stopped = false
  const work = async (tree: Tree, job: number): Promise<void> => {
    if (stopped) return
    try {
      await load(database, tree.id)
      await finishJob(database, job, 'COMPLETED', null)
    } catch (error) {
      if (stopped) return
      const thrown = sqlException(error, address)
      here.error(
        logger,
        `Migration of tree ${tree.id} of project ${tree.projectId} failed`,
        throwable(
          'org.springframework.dao.DataIntegrityViolationException',
          `could not execute statement [${summary(thrown)}]`,
          [],
          thrown,
        ),
      )
      // a database that went away leaves the job unfinished, as a stopped service does
      await finishJob(database, job, 'FAILED', summary(thrown)).catch(() => undefined)
    }
  }
  return {
    begin: async (trees) => {
      for (const tree of trees) {
        const job = await createJob(database, `test-case-tree-migration: project ${tree.projectId}, tree ${tree.id}`)
        queue = queue.then(() => work(tree, job))
      }
    },
    stop: async () => {
      await Promise.race([queue, sleep(1000, undefined, { ref: false })])
      stopped = true
    },
  }
}

async function load(database: Database, treeId: number): Promise<void> {
  await database.session(async (client) => {
    await client.query('BEGIN')
    await client.query('DELETE FROM tree_node WHERE tree_id = $1', [treeId])
    await client.query(
      `INSERT INTO tree_node (tree_id, test_case_id, depth, name)
       SELECT d.tree_id, d.test_case_id, step.depth, step.name
       FROM tree_data d, jsonb_array_elements_text(d.path::jsonb) WITH ORDINALITY AS step (name, depth) WHERE d.tree_id = $1`,
      [treeId],
    )
    await client.query('UPDATE tree SET migrated = TRUE WHERE id = $1', [treeId])
    await client.query('COMMIT')
  })
}
