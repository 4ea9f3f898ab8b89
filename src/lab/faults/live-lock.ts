import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import { restartLabService } from '../service.ts'
import { pending, restoreChangelog } from './migration.ts'

export const liveLock: Fault = {
  id: 'live-lock',
  kind: 'fault',
  title: 'a running migration holds the change-log lock',
  repair: 'wait until the migration has finished',
  cases: [
    {
      variant: null,
      made: 'the service is started with half an hour of pending change sets: it migrates, holds the lock, and does not answer yet',
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
