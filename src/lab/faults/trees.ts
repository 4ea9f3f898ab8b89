import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import { onDatabase } from '../access/database.ts'
import type { Sql } from '../access/database.ts'
import { importResults, moveTestCase } from '../control.ts'
import type { Fault, FaultCase } from '../fault.ts'
import { restartLabService, waitForLog, waitUntilServing } from '../service.ts'

const build = '524u02'

const failed = /Migration of tree 2 of project \d+ failed/

const unmigrated: Pick<FaultCase, 'expected' | 'changes' | 'needs' | 'revert'> = {
  expected: { exitCode: 2, problems: { 'trees/migrated': 'warning' }, allowedConsequences: [] },
  changes: { declared: { image: `registry.example.org/testops/testops:${build}`, build }, machine: { build } },
  needs: { serving: true },
  async revert(lab) {
    await onDatabase(lab, async (sql) => {
      await sql(
        `UPDATE tree_data d SET path = format('["%s", "group %s"]', tree.name, (d.test_case_id - tree.id * 100) % 3)
         FROM tree WHERE tree.id = d.tree_id AND d.path NOT LIKE '%]'`,
      )
      await sql('UPDATE tree SET migrated = TRUE')
      await sql('DELETE FROM async_job')
    })
  },
}

export const treesUnmigrated: Fault = {
  id: 'trees-unmigrated',
  kind: 'fault',
  title: 'a tree could not be moved to the new structure',
  repair: 'testops-admin migrate-trees',
  cases: [
    {
      ...unmigrated,
      variant: 'canceled',
      made: `build ${build} is running, and PostgreSQL canceled the statement that was migrating one tree`,
      repairedBy: ['migrate-trees', '--tree', '1/2', '--wait'],
      async apply(lab) {
        await onDatabase(lab, async (sql) => {
          await sql('UPDATE tree SET migrated = FALSE WHERE id = 2')
          // the migration has to wait for this transaction, so there is time to cancel it
          await sql('BEGIN')
          await sql('LOCK TABLE tree_node IN ACCESS EXCLUSIVE MODE')
          await restartLabService(lab)
          await waitUntilServing(lab)
          await cancelWaiting(sql)
          await waitForLog(lab, failed)
        })
      },
    },
    {
      ...unmigrated,
      variant: 'damaged-path',
      made:
        `build ${build} is running, and the data of one tree contains a damaged path, so the service fails to ` +
        'migrate that tree',
      notInDrills: 'the damaged path can only be mended by a person who knows what it was',
      async apply(lab) {
        await onDatabase(lab, async (sql) => {
          await sql(
            'UPDATE tree_data SET path = left(path, 5) WHERE id = (SELECT min(id) FROM tree_data WHERE tree_id ' +
              "= 2) AND path LIKE '%]'",
          )
          await sql('UPDATE tree SET migrated = FALSE WHERE id = 2')
        })
        await restartLabService(lab)
        await waitUntilServing(lab)
        await waitForLog(lab, failed)
      },
    },
  ],
}

/** Cancels the statement of the service that waits for this connection's lock. Throws FAILED if there is none. */
async function cancelWaiting(sql: Sql): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(50)) {
    const canceled = await sql(
      'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)) ' +
        "AND query LIKE '%INSERT INTO tree_node%'",
    )
    if (canceled.length > 0) return
  }
  throw new AdminError('FAILED', 'the service did not begin to migrate the tree')
}

const tests = ['org.example.shop.CartTest.adds', 'org.example.shop.CartTest.removes']
const [projectA, projectB] = [1, 2] as const

export const duplicateMove: Fault = {
  id: 'duplicate-move',
  kind: 'fault',
  title: 'a test case is moved to a project that already has an identical one',
  repair: 'leave the duplicate where it is (the reason: testops-admin explain duplicate-move)',
  cases: [
    {
      variant: null,
      made:
        `a test case is moved from project ${projectA} to ${projectB}, the same results are imported into project ` +
        `${projectA} again, and the move back fails with HTTP 409`,
      // a harmless refusal: only the user who moved the test case sees it
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        const second = (await importResults(lab, projectA, tests))[1]!
        await moveTestCase(lab, second, projectB)
        await importResults(lab, projectA, tests)
        if ((await moveTestCase(lab, second, projectA)) === null)
          throw new AdminError('FAILED', `test case ${second} was moved, but the service should have refused the move`)
      },
      revert: (lab) => onDatabase(lab, async (sql) => void (await sql('TRUNCATE test_case RESTART IDENTITY'))),
    },
  ],
}
