import { waitForPhase } from '../control.ts'
import type { Expected, Fault } from '../fault.ts'
import { restartLabService, waitUntilEnded, waitUntilServing } from '../service.ts'
import { serviceFails } from './consequences.ts'
import { killWhileMigrating } from './kill-while-migrating.ts'
import { impatient, restoreChangelog, shortlyPending } from './migration.ts'

const cannotStart: Expected = {
  exitCode: 1,
  problems: { 'database/changelog-lock': 'error' },
  allowedConsequences: serviceFails,
}

export const stuckLock: Fault = {
  id: 'stuck-lock',
  kind: 'fault',
  title: 'a killed service left the change-log lock behind',
  repair: 'testops-admin unlock-changelog',
  cases: [
    {
      variant: 'waiting',
      made: 'the service is killed (SIGKILL) while it migrates and holds the change-log lock; restarted, it waits for the lock',
      expected: cannotStart,
      repairedBy: ['unlock-changelog'],
      changes: shortlyPending,
      async apply(lab) {
        await killWhileMigrating(lab)
        await restartLabService(lab)
        await waitForPhase(lab, 'waiting-for-lock')
      },
      revert: restoreChangelog,
    },
    {
      variant: 'given-up',
      made: 'the service is killed (SIGKILL) while it migrates and holds the change-log lock; restarted, it gives up waiting and exits',
      expected: cannotStart,
      repairedBy: ['unlock-changelog'],
      changes: impatient,
      async apply(lab) {
        await killWhileMigrating(lab)
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      revert: restoreChangelog,
    },
    {
      variant: 'unnoticed',
      made: 'the service is killed while it migrates; then its previous version starts: it has no pending change sets, so it works',
      expected: { exitCode: 2, problems: { 'database/changelog-lock': 'warning' }, allowedConsequences: [] },
      repairedBy: ['unlock-changelog'],
      needs: { serving: true },
      async apply(lab) {
        await killWhileMigrating(lab)
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: restoreChangelog,
    },
  ],
}
