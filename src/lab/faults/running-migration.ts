import type { Fault } from '../fault.ts'
import { restoreChangelog } from './migration.ts'
import { migrateElsewhere, stopElsewhere } from './second-instance.ts'

export const runningMigration: Fault = {
  id: 'running-migration',
  kind: 'healthy',
  title: 'a newer version migrates the database while the old one still serves',
  repair: 'nothing is to be done',
  cases: [
    {
      variant: null,
      made: 'a second instance of the service, of a newer version and on another host, is started: it migrates and holds the change-log lock',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      apply: (lab) => migrateElsewhere(lab),
      async revert(lab) {
        await stopElsewhere(lab)
        await restoreChangelog(lab)
      },
    },
  ],
}
