import type { Changes } from '../changes.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilEnded } from '../service.ts'
import { apiFails } from './consequences.ts'
import { impatient, migration, restoreChangelog } from './migration.ts'
import { migrateElsewhere, stopElsewhere } from './second-instance.ts'

/** Runs a Liquibase before 4.29.2 (FIELD-NOTES.md 2), which soon stops waiting for the lock. */
const careless: Changes = { ...impatient, machine: { migration, liquibase: '4.28.0' } }

export const lockStolen: Fault = {
  id: 'lock-stolen',
  kind: 'fault',
  title: "a waiting instance released another instance's change-log lock",
  repair: 'let the other migration finish before you start the service: testops-admin explain lock-stolen',
  cases: [
    {
      variant: null,
      made: 'while an instance on another host migrates, the service is started with Liquibase 4.28.0: it waits for the lock, gives up, releases it and exits',
      // the row is free and the service has exited: only its log shows the rest
      expected: {
        exitCode: 1,
        problems: { 'service/crashes': 'error' },
        allowedConsequences: ['service/running', ...apiFails],
      },
      changes: careless,
      async apply(lab) {
        await migrateElsewhere(lab, { liquibase: '4.29.2' })
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      async revert(lab) {
        await stopElsewhere(lab)
        await restoreChangelog(lab)
      },
    },
  ],
}
