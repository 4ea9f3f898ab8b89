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

/** the name of `savedPlan` in the lab's folder */
const apply = ['apply', '{lab}/plan.json']

/** Makes a stuck lock; the service waits for it or gives up. Then saves the plan to release it, as an operator does. */
async function stickAndPlan(lab: Lab, then: (lab: Lab) => Promise<void>): Promise<void> {
  await killWhileMigrating(lab)
  await restartLabService(lab)
  await then(lab)
  await savePlan(lab, ['unlock-changelog'], lab.layout.savedPlan)
}

/** Frees the row, as another operator does by hand. */
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
  title: 'the change-log lock changed hands after the plan to release it was made',
  repair: 'plan again: testops-admin unlock-changelog',
  cases: [
    {
      variant: 'freed',
      made: "a killed service left its lock, and its restart gave up; a plan to release the lock is saved (plan.json in the lab's folder); then somebody frees the row by hand",
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
      made: "a plan to release a stuck lock is saved (plan.json in the lab's folder); then somebody frees the row, and the waiting service takes the lock and migrates",
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
      made: "a plan to release a stuck lock is saved (plan.json in the lab's folder); then the service takes the freed lock and is killed again: a different lock is stuck now",
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
