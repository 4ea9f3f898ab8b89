import { onDatabase } from '../access/database.ts'
import { labUser } from '../configuration.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { restartLabService, waitUntilServing } from '../service.ts'

const build = '524u02'

async function giveRole(lab: Lab, role: string): Promise<void> {
  await onDatabase(lab, (sql) => sql('UPDATE user_account SET authority = $1 WHERE id = $2', [role, labUser.id]))
}

export const noMigrationRole: Fault = {
  id: 'no-migration-role',
  kind: 'fault',
  title: "the API token's user may not migrate trees",
  repair: 'use an API token that an administrator has made',
  cases: [
    {
      variant: null,
      made: `build ${build}, which moves trees, is running, and the API token's user has only the role of a plain user`,
      expected: { exitCode: 2, problems: { 'api/roles': 'warning' }, allowedConsequences: [] },
      changes: { declared: { image: `registry.example.org/testops/testops:${build}`, build }, machine: { build } },
      needs: { serving: true },
      async apply(lab) {
        await giveRole(lab, 'ROLE_USER')
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: (lab) => giveRole(lab, labUser.role),
    },
  ],
}
