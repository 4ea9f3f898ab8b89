import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import { restartLabService } from '../service.ts'
import { pending, restoreChangelog } from './migration.ts'

export const liveLock: Fault = {
  id: 'live-lock',
  kind: 'fault',
  title: 'the change-log lock is held by a migration that is at work',
  repair: 'wait until the migration is done',
  cases: [
    {
      variant: null,
      made: 'the service is started with half an hour of change sets before it: it migrates, holds the lock, and does not answer yet',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      refused: ['unlock-changelog'],
      changes: pending,
      async apply(lab) {
        await restartLabService(lab)
        await waitForPhase(lab, 'migrating')
      },
      revert: restoreChangelog,
    },
  ],
}
