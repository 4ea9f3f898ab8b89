import { onDatabase } from '../access/database.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitForLog, waitUntilServing } from '../service.ts'

const build = '524u02'

export const treesUnmigrated: Fault = {
  id: 'trees-unmigrated',
  kind: 'fault',
  title: 'a tree could not be moved to the new structure',
  repair: 'testops-admin migrate-trees',
  cases: [
    {
      variant: null,
      made: `build ${build} runs, and one tree's data has a damaged path: the service fails to migrate that tree`,
      expected: { exitCode: 2, problems: { 'trees/migrated': 'warning' }, allowedConsequences: [] },
      changes: { declared: { image: `registry.example.org/testops/testops:${build}`, build }, machine: { build } },
      needs: { serving: true },
      async apply(lab) {
        await onDatabase(lab, async (sql) => {
          await sql(
            "UPDATE tree_data SET path = left(path, 5) WHERE id = (SELECT min(id) FROM tree_data WHERE tree_id = 2) AND path LIKE '%]'",
          )
          await sql('UPDATE tree SET migrated = FALSE WHERE id = 2')
        })
        await restartLabService(lab)
        await waitUntilServing(lab)
        await waitForLog(lab, /Migration of tree 2 of project \d+ failed/)
      },
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
    },
  ],
}
