import type { Fault } from '../fault.ts'
import { restoreChangelog } from './migration.ts'
import { migrateElsewhere, stopElsewhere } from './second-instance.ts'

export const runningMigration: Fault = {
  id: 'running-migration',
  kind: 'healthy',
  title: 'a newer version migrates the database while the old one still works',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: 'a second instance of a newer version is started on another host: it migrates and holds the change-log lock',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      apply: (lab) => migrateElsewhere(lab),
      async revert(lab) {
        await stopElsewhere(lab)
        await restoreChangelog(lab)
      },
    },
  ],
}
