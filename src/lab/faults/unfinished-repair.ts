import { join } from 'node:path'
import type { Fault } from '../fault.ts'
import { waitForPhase } from '../control.ts'
import type { Lab } from '../lab.ts'
import { forgetRuns, repairUntilKilled } from '../repairs.ts'
import { restartLabService } from '../service.ts'
import { serviceFails } from './consequences.ts'
import { killWhileMigrating } from './kill-while-migrating.ts'
import { restoreChangelog, shortlyPending } from './migration.ts'

const expected = {
  exitCode: 1,
  problems: { 'service/unfinished-repair': 'error' },
  allowedConsequences: ['database/changelog-lock', 'service/running', ...serviceFails],
} as const

/** Makes a stuck lock, and kills its repair once it has stopped the service. */
async function killRepair(lab: Lab, stateHome?: string): Promise<void> {
  await killWhileMigrating(lab)
  await restartLabService(lab)
  await waitForPhase(lab, 'waiting-for-lock')
  await repairUntilKilled(lab, ['unlock-changelog'], 'stop-service:after', stateHome)
}

async function revert(lab: Lab): Promise<void> {
  await forgetRuns(lab)
  await restoreChangelog(lab)
}

export const unfinishedRepair: Fault = {
  id: 'unfinished-repair',
  kind: 'fault',
  title: 'a repair was killed halfway',
  repair: 'testops-admin resume',
  cases: [
    {
      variant: 'here',
      made: 'a lock is stuck, and unlock-changelog is killed (SIGKILL) once it has stopped the service',
      expected,
      changes: shortlyPending,
      apply: async (lab) => killRepair(lab),
      revert,
    },
    {
      variant: 'elsewhere',
      made: 'a lock is stuck, and unlock-changelog is killed (SIGKILL) on another machine once it has stopped the service: only the deployment has a record of it',
      expected,
      changes: shortlyPending,
      apply: async (lab) => killRepair(lab, join(lab.layout.root, 'service', 'elsewhere')),
      revert,
    },
  ],
}
