import { waitForPhase } from '../control.ts'
import type { Lab } from '../lab.ts'
import { killLabService, restartLabService } from '../service.ts'
import { shortMigration } from './migration.ts'

/** Kills the service in the middle of a migration: the lock stays. */
export async function killWhileMigrating(lab: Lab): Promise<void> {
  await restartLabService(lab, { machine: { migration: shortMigration } })
  await waitForPhase(lab, 'migrating')
  await killLabService(lab)
}
