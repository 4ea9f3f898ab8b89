import type { Changes } from '../changes.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilEnded } from '../service.ts'
import { apiFails } from './consequences.ts'
import { impatient, migration, restoreChangelog } from './migration.ts'
import { migrateElsewhere, stopElsewhere } from './second-instance.ts'

/** As Liquibase was before 4.29.2 (FIELD-NOTES.md 2), and soon out of patience. */
const careless: Changes = { ...impatient, machine: { migration, liquibase: '4.28.0' } }

export const lockStolen: Fault = {
  id: 'lock-stolen',
  kind: 'fault',
  title: 'a waiter released the change-log lock, which another one holds',
  repair: 'let the other migration end before the service is started: testops-admin explain lock-stolen',
  cases: [
    {
      variant: null,
      made: 'while an instance on another host migrates, the service is started with Liquibase 4.28.0: it waits for the lock in vain, releases it although it is not its own, and ends',
      // the row is free, and a service that has ended is no more than that: only its log tells the rest
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
