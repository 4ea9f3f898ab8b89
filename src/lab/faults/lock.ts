import { rm } from 'node:fs/promises'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import { waitForPhase } from '../control.ts'
import type { Expected, Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { savePlan } from '../repairs.ts'
import { killLabService, restartLabService, waitUntilEnded, waitUntilServing } from '../service.ts'
import { apiFails, serviceFails } from '../fault.ts'
import {
  impatient,
  killWhileMigrating,
  migrateElsewhere,
  migration,
  pending,
  restoreChangelog,
  shortlyPending,
  stopElsewhere,
} from './trees.ts'

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
      made:
        'the service is killed (SIGKILL) while it migrates and holds the change-log lock; after a restart, the ' +
        'service waits for the lock',
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
      made:
        'the service is killed (SIGKILL) while it migrates and holds the change-log lock; after a restart, the ' +
        'service gives up waiting and exits',
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
      made:
        'the service is killed while it migrates; its previous version starts, and works despite the lock, ' +
        'because it has no pending change sets',
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

export const liveLock: Fault = {
  id: 'live-lock',
  kind: 'fault',
  title: 'a running migration holds the change-log lock',
  repair: 'wait until the migration has finished',
  cases: [
    {
      variant: null,
      made:
        'the service is started with pending change sets that take half an hour: it migrates, holds the lock, ' +
        'and does not answer yet',
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

const unnoticed: Expected = { exitCode: 2, problems: { 'database/changelog-lock': 'warning' }, allowedConsequences: [] }

async function sqlThenFailedStart(lab: Lab, statement: string): Promise<void> {
  await onDatabase(lab, (sql) => sql(statement))
  await restartLabService(lab)
  await waitUntilEnded(lab)
}

/** The schema that somebody moved the table to. */
const strange = 'archive'

export const lockHalfCleared: Fault = {
  id: 'lock-half-cleared',
  kind: 'fault',
  title: 'the lock table contains the wrong rows, or is in the wrong schema',
  repair: 'testops-admin unlock-changelog; if the table is in the wrong schema, move it back by hand',
  cases: [
    {
      variant: 'null-granted',
      made:
        'the row in the lock table is locked, but lockgranted and lockedby are empty, because somebody ' +
        'cleared only two of the three columns; with this row, a newer version of the service fails to start',
      expected: cannotStart,
      repairedBy: ['unlock-changelog'],
      changes: impatient,
      apply: (lab) =>
        sqlThenFailedStart(
          lab,
          'UPDATE databasechangeloglock SET locked = TRUE, lockgranted = NULL, lockedby = NULL WHERE id = 1',
        ),
      revert: restoreChangelog,
    },
    {
      variant: 'no-row',
      made:
        'the row in the lock table does not have id 1, as if somebody had restored it by hand; with this row, a ' +
        'newer version of the service fails to start',
      expected: cannotStart,
      repairedBy: ['unlock-changelog'],
      changes: impatient,
      apply: (lab) => sqlThenFailedStart(lab, 'UPDATE databasechangeloglock SET id = 2 WHERE id = 1'),
      revert: restoreChangelog,
    },
    {
      variant: 'second-row',
      made: 'the lock table has a second row, which is locked; the row that Liquibase reads is free',
      expected: unnoticed,
      repairedBy: ['unlock-changelog'],
      apply: (lab) =>
        onDatabase(lab, async (sql) => {
          await sql("INSERT INTO databasechangeloglock VALUES (2, TRUE, now(), 'testops-old (10.0.0.7)')")
        }),
      revert: restoreChangelog,
    },
    {
      variant: 'other-schema',
      made: `the lock table is in schema \`${strange}\`, where the service does not look for it`,
      expected: unnoticed,
      notInDrills: 'doctor leaves it to a person who knows the database to move the table back',
      apply: (lab) =>
        onDatabase(lab, async (sql) => {
          await sql(`CREATE SCHEMA IF NOT EXISTS ${strange} AUTHORIZATION ${await owner(sql)}`)
          await sql(`ALTER TABLE public.databasechangeloglock SET SCHEMA ${strange}`)
        }),
      async revert(lab) {
        await onDatabase(lab, async (sql) => {
          const [there] = await sql(
            "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'databasechangeloglock'",
            [strange],
          )
          // a service started since then has created its own
          if (there) await sql('DROP TABLE IF EXISTS public.databasechangeloglock')
          if (there) await sql(`ALTER TABLE ${strange}.databasechangeloglock SET SCHEMA public`)
          await sql(`DROP SCHEMA IF EXISTS ${strange} CASCADE`)
        })
        await restoreChangelog(lab)
      },
    },
    {
      variant: 'held-elsewhere',
      made:
        'a dump taken during a migration is restored into schema `restored`: the lock table from the dump shows ' +
        'a lock that nobody holds',
      expected: unnoticed,
      repairedBy: ['unlock-changelog', '--schema', 'restored'],
      apply: (lab) =>
        onDatabase(lab, async (sql) => {
          await sql(`CREATE SCHEMA IF NOT EXISTS restored AUTHORIZATION ${await owner(sql)}`)
          await sql(
            'CREATE TABLE IF NOT EXISTS restored.databasechangeloglock (LIKE public.databasechangeloglock ' +
              'INCLUDING ALL)',
          )
          await sql(`ALTER TABLE restored.databasechangeloglock OWNER TO ${await owner(sql)}`)
          await sql(
            "INSERT INTO restored.databasechangeloglock VALUES (1, TRUE, now() - interval '3 days', " +
              "'testops-6d4cf56db6-x2k4p (10.42.0.191)') ON CONFLICT DO NOTHING",
          )
        }),
      async revert(lab) {
        await onDatabase(lab, async (sql) => void (await sql('DROP SCHEMA IF EXISTS restored CASCADE')))
      },
    },
  ],
}

/** Returns the service's role, which owns the database. */
async function owner(sql: (text: string) => Promise<readonly Record<string, unknown>[]>): Promise<string> {
  const [row] = await sql('SELECT pg_get_userbyid(datdba) AS name FROM pg_database WHERE datname = current_database()')
  return String(row!['name'])
}

/** Runs a Liquibase before 4.29.2 (FIELD-NOTES.md 2), which soon stops waiting for the lock. */
const careless: Changes = { ...impatient, machine: { migration, liquibase: '4.28.0' } }

export const lockStolen: Fault = {
  id: 'lock-stolen',
  kind: 'fault',
  title: "a waiting instance released another instance's change-log lock",
  repair:
    'let the migration of the other instance finish before you start the service ' +
    '(details: testops-admin explain lock-stolen)',
  notInDrills: 'its repair is to wait for a migration that takes half an hour',
  cases: [
    {
      variant: null,
      made:
        'an instance on another host is migrating the database; the service starts with Liquibase 4.28.0, waits ' +
        'for the lock, gives up, releases the lock and exits',
      // the row is free and the service has exited: only its log shows the rest
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
  title: 'the change-log lock changed after a plan to release it was made',
  repair: 'plan again: testops-admin unlock-changelog',
  cases: [
    {
      variant: 'freed',
      made:
        'the service gives up waiting for a stuck lock and exits; a plan to release the lock is saved (plan.json ' +
        "in the lab's folder); then somebody frees the lock by hand",
      expected: {
        exitCode: 1,
        problems: { 'service/crashes': 'error' },
        allowedConsequences: ['service/running', ...apiFails],
      },
      quickest: [['service', 'start']],
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
      made:
        "a plan to release a stuck lock is saved (plan.json in the lab's folder); then somebody frees the lock " +
        'by hand, and the waiting service takes the lock and migrates',
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
      made:
        "a plan to release a stuck lock is saved (plan.json in the lab's folder); then somebody frees the lock; " +
        'the service takes the lock and is killed again, so a new lock is stuck',
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
