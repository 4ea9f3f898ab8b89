import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import { onDatabase } from '../access/database.ts'
import type { Sql } from '../access/database.ts'
import { importResults, moveTestCase, waitForPhase } from '../control.ts'
import type { Fault, FaultCase } from '../fault.ts'
import { restartLabService, waitForLog, waitUntilServing, killLabService, labService } from '../service.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Changes } from '../changes.ts'
import { overlayOf } from '../changes.ts'
import type { Lab } from '../lab.ts'
import { serversOf } from '../lab.ts'
import type { PendingMigration, PracticeMachine } from '../practice-service/machine.ts'
import { freePort } from '../servers/local/ports.ts'
import { writePrivate } from '../servers/record.ts'
import { stop } from '../service-control/control.ts'
import { unitIn } from '../service-control/unit.ts'
import { environmentText, serviceEnvironment, serviceMachine } from '../settings.ts'

const build = '524u02'

const failed = /Migration of tree 2 of project \d+ failed/

const unmigrated: Pick<FaultCase, 'expected' | 'changes' | 'needs' | 'revert'> = {
  expected: { exitCode: 2, problems: { 'trees/migrated': 'warning' }, allowedConsequences: [] },
  changes: { declared: { image: `registry.example.org/testops/testops:${build}`, build }, machine: { build } },
  needs: { serving: true },
  async revert(lab) {
    await onDatabase(lab, async (sql) => {
      await sql(
        `UPDATE tree_data d SET path = format('["%s", "group %s"]', tree.name, (d.test_case_id - tree.id * 100) % 3)
         FROM tree WHERE tree.id = d.tree_id AND d.path NOT LIKE '%]'`,
      )
      await sql('UPDATE tree SET migrated = TRUE')
      await sql('DELETE FROM async_job')
    })
  },
}

export const treesUnmigrated: Fault = {
  id: 'trees-unmigrated',
  kind: 'fault',
  title: 'a tree could not be moved to the new structure',
  repair: 'testops-admin migrate-trees',
  cases: [
    {
      ...unmigrated,
      variant: 'canceled',
      made: `build ${build} is running, and PostgreSQL canceled the statement that was migrating one tree`,
      repairedBy: ['migrate-trees', '--tree', '1/2', '--wait'],
      async apply(lab) {
        await onDatabase(lab, async (sql) => {
          await sql('UPDATE tree SET migrated = FALSE WHERE id = 2')
          // the migration has to wait for this transaction, so there is time to cancel it
          await sql('BEGIN')
          await sql('LOCK TABLE tree_node IN ACCESS EXCLUSIVE MODE')
          await restartLabService(lab)
          await waitUntilServing(lab)
          await cancelWaiting(sql)
          await waitForLog(lab, failed)
        })
      },
    },
    {
      ...unmigrated,
      variant: 'damaged-path',
      made:
        `build ${build} is running, and the data of one tree contains a damaged path, so the service fails to ` +
        'migrate that tree',
      notInDrills: 'the damaged path can only be mended by a person who knows what it was',
      async apply(lab) {
        await onDatabase(lab, async (sql) => {
          await sql(
            'UPDATE tree_data SET path = left(path, 5) WHERE id = (SELECT min(id) FROM tree_data WHERE tree_id ' +
              "= 2) AND path LIKE '%]'",
          )
          await sql('UPDATE tree SET migrated = FALSE WHERE id = 2')
        })
        await restartLabService(lab)
        await waitUntilServing(lab)
        await waitForLog(lab, failed)
      },
    },
  ],
}

/** Cancels the statement of the service that waits for this connection's lock. Throws FAILED if there is none. */
async function cancelWaiting(sql: Sql): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(50)) {
    const canceled = await sql(
      'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)) ' +
        "AND query LIKE '%INSERT INTO tree_node%'",
    )
    if (canceled.length > 0) return
  }
  throw new AdminError('FAILED', 'the service did not begin to migrate the tree')
}

const tests = ['org.example.shop.CartTest.adds', 'org.example.shop.CartTest.removes']
const [projectA, projectB] = [1, 2] as const

export const duplicateMove: Fault = {
  id: 'duplicate-move',
  kind: 'fault',
  title: 'a test case is moved to a project that already has an identical one',
  repair: 'leave the duplicate where it is (the reason: testops-admin explain duplicate-move)',
  cases: [
    {
      variant: null,
      made:
        `a test case is moved from project ${projectA} to ${projectB}, the same results are imported into project ` +
        `${projectA} again, and the move back fails with HTTP 409`,
      // a harmless refusal: only the user who moved the test case sees it
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        const second = (await importResults(lab, projectA, tests))[1]!
        await moveTestCase(lab, second, projectB)
        await importResults(lab, projectA, tests)
        if ((await moveTestCase(lab, second, projectA)) === null)
          throw new AdminError('FAILED', `test case ${second} was moved, but the service should have refused the move`)
      },
      revert: (lab) => onDatabase(lab, async (sql) => void (await sql('TRUNCATE test_case RESTART IDENTITY'))),
    },
  ],
}

/** Half an hour of change sets of a newer version. Statements are short, so a killed migration leaves none running. */
export const migration: PendingMigration = {
  name: '5.28-launch-index',
  changeSets: 360,
  statements: 100,
  statementMs: 50,
}

/** The service has pending change sets and asks for the lock every second. */
export const pending: Changes = {
  machine: { migration },
  environment: { [springSettings.liquibaseLockPollSeconds]: '1' },
}

/** A few seconds of change sets: long enough to kill the service in, short enough to wait for after a release. */
const shortMigration: PendingMigration = { ...migration, changeSets: 3, statements: 30 }

/** Like `pending`, but with `shortMigration`. */
export const shortlyPending: Changes = { ...pending, machine: { migration: shortMigration } }

/** Like `shortlyPending`, but the service gives up after a second instead of Liquibase's five minutes. */
export const impatient: Changes = {
  machine: { migration: shortMigration },
  environment: { [springSettings.liquibaseLockPollSeconds]: '0.3', [springSettings.liquibaseLockWaitMinutes]: '0.015' },
}

/** Restores the lock table to one free row, as Liquibase expects, and removes the newer version's change sets. */
export async function restoreChangelog(lab: Lab): Promise<void> {
  await onDatabase(lab, async (sql) => {
    await sql('DELETE FROM databasechangelog WHERE id LIKE $1', [`${migration.name}-%`])
    await sql('DELETE FROM databasechangeloglock WHERE id <> 1')
    await sql(
      `INSERT INTO databasechangeloglock (id, locked) VALUES (1, FALSE)
       ON CONFLICT (id) DO UPDATE SET locked = FALSE, lockgranted = NULL, lockedby = NULL`,
    )
  })
}

/** Kills the service in the middle of a migration: the lock stays. */
export async function killWhileMigrating(lab: Lab): Promise<void> {
  await restartLabService(lab, { machine: { migration: shortMigration } })
  await waitForPhase(lab, 'migrating')
  await killLabService(lab)
}

/** Starts a second instance of a newer version on another host. Returns once it migrates and holds the lock. */
export async function migrateElsewhere(lab: Lab, machine: Partial<PracticeMachine> = {}): Promise<void> {
  const servers = await serversOf(lab)
  const overlay = overlayOf(lab.state.faults.map(({ changes }) => changes))
  const unit = unitIn(lab.layout.secondService)
  const port = await freePort(unit.directory)
  const controlPort = await freePort(unit.directory)
  const environment = { ...serviceEnvironment(lab, servers, overlay), [springSettings.serverPort]: String(port) }
  await writePrivate(unit.environmentFile, environmentText(environment))
  const second = {
    ...serviceMachine(lab, overlay),
    controlPort,
    hostName: 'testops-7d9f8c5b6-q8zkn',
    migration,
    ...machine,
  }
  await writePrivate(unit.machineFile, JSON.stringify(second, null, 2))
  await (await labService(lab, unit.directory)).start({ timeoutMs: 20_000 })
  await waitForPhase(lab, 'migrating', controlPort)
}

/** Stops the second instance. Harmless if there is none. */
export async function stopElsewhere(lab: Pick<Lab, 'layout'>): Promise<void> {
  await stop(unitIn(lab.layout.secondService)).catch(() => undefined)
}

export const runningMigration: Fault = {
  id: 'running-migration',
  kind: 'healthy',
  title: 'a newer version migrates the database while the old one is still running',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made:
        'a second instance, with a newer version, is started on another host: it migrates the database and holds ' +
        'the change-log lock',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      apply: (lab) => migrateElsewhere(lab),
      async revert(lab) {
        await stopElsewhere(lab)
        await restoreChangelog(lab)
      },
    },
  ],
}
