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
  title: 'the change-log lock was left by a service that was killed',
  repair: 'testops-admin unlock-changelog',
  cases: [
    {
      variant: 'waiting',
      made: 'the service is killed (SIGKILL) while it migrates and holds the change-log lock, then started again: it waits for the lock',
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
      made: 'as before, and the service that was started again has waited in vain and ended',
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
      made: 'the service is killed while it migrates, and its former version, which has no change set pending, is started again: it works',
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
