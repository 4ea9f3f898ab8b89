import { rm } from 'node:fs/promises'
import { onDatabase } from '../access/database.ts'
import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { savePlan } from '../repairs.ts'
import { killLabService, restartLabService, waitUntilEnded } from '../service.ts'
import { apiFails, serviceFails } from './consequences.ts'
import { killWhileMigrating } from './kill-while-migrating.ts'
import { impatient, pending, restoreChangelog, shortlyPending } from './migration.ts'

/** `savedPlan` in the lab's folder */
const apply = ['apply', '{lab}/plan.json']

/** A lock is stuck, the service waits for it or has given up, and an operator saves the plan to release it. */
async function stickAndPlan(lab: Lab, then: (lab: Lab) => Promise<void>): Promise<void> {
  await killWhileMigrating(lab)
  await restartLabService(lab)
  await then(lab)
  await savePlan(lab, ['unlock-changelog'], lab.layout.savedPlan)
}

/** As another operator does by hand. */
async function freeByHand(lab: Lab): Promise<void> {
  await onDatabase(lab, (sql) =>
    sql('UPDATE databasechangeloglock SET locked = FALSE, lockgranted = NULL, lockedby = NULL WHERE id = 1'),
  )
}

async function revert(lab: Lab): Promise<void> {
  await rm(lab.layout.savedPlan, { force: true })
  await restoreChangelog(lab)
}

export const lockVanished: Fault = {
  id: 'lock-vanished',
  kind: 'fault',
  title: 'the change-log lock changed hands after its release was planned',
  repair: 'plan again: testops-admin unlock-changelog',
  cases: [
    {
      variant: 'freed',
      made: "the service is killed while it holds the change-log lock, and its next start gives up; the plan to release the lock is saved (plan.json in the lab's folder); then somebody frees the row by hand",
      expected: {
        exitCode: 1,
        problems: { 'service/crashes': 'error' },
        allowedConsequences: ['service/running', ...apiFails],
      },
      refused: apply,
      changes: impatient,
      async apply(lab) {
        await stickAndPlan(lab, waitUntilEnded)
        await freeByHand(lab)
      },
      revert,
    },
    {
      variant: 'taken',
      made: 'as before, but the service waits: it takes the lock that was freed, migrates, and lives',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      refused: apply,
      changes: pending,
      async apply(lab) {
        await stickAndPlan(lab, (it) => waitForPhase(it, 'waiting-for-lock'))
        await freeByHand(lab)
        await waitForPhase(lab, 'migrating')
      },
      revert,
    },
    {
      variant: 'stuck-again',
      made: 'as before, but the service that took the lock is killed in its turn, and started again: another lock is stuck than the plan saw',
      expected: { exitCode: 1, problems: { 'database/changelog-lock': 'error' }, allowedConsequences: serviceFails },
      refused: apply,
      repairedBy: ['unlock-changelog'],
      changes: shortlyPending,
      async apply(lab) {
        await stickAndPlan(lab, (it) => waitForPhase(it, 'waiting-for-lock'))
        await freeByHand(lab)
        await waitForPhase(lab, 'migrating')
        await killLabService(lab)
        await restartLabService(lab)
        await waitForPhase(lab, 'waiting-for-lock')
      },
      revert,
    },
  ],
}
