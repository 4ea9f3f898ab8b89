import { springSettings } from '../../knowledge/settings.ts'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import type { Lab } from '../lab.ts'
import type { PendingMigration } from '../practice-service/machine.ts'

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
export const shortMigration: PendingMigration = { ...migration, changeSets: 3 }

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
