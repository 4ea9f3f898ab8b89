import { springSettings } from '../../knowledge/settings.ts'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import { overlayOf } from '../changes.ts'
import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { serversOf } from '../lab.ts'
import type { PendingMigration, PracticeMachine } from '../practice-service/machine.ts'
import { freePort } from '../servers/local/ports.ts'
import { writePrivate } from '../servers/record.ts'
import { stop } from '../service-control/control.ts'
import { unitIn } from '../service-control/unit.ts'
import { killLabService, labService, restartLabService } from '../service.ts'
import { environmentText, serviceEnvironment, serviceMachine } from '../settings.ts'

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
