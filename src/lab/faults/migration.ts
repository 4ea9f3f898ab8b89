import { springSettings } from '../../knowledge/settings.ts'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import type { Lab } from '../lab.ts'
import type { PendingMigration } from '../practice-service/machine.ts'

/**
 * Change sets of a newer version: short statements, so that a killed migration leaves none at work, for half an hour.
 */
export const migration: PendingMigration = {
  name: '5.28-launch-index',
  changeSets: 360,
  statements: 100,
  statementMs: 50,
}

/** The service has change sets before it, and asks for the lock each second. */
export const pending: Changes = {
  machine: { migration },
  environment: { [springSettings.liquibaseLockPollSeconds]: '1' },
}

/**
 * The same for a few seconds: long enough to be killed in, short enough to be waited for once the lock has been
 * released.
 */
export const shortMigration: PendingMigration = { ...migration, changeSets: 3 }

/** As `pending`, for those few seconds. */
export const shortlyPending: Changes = { ...pending, machine: { migration: shortMigration } }

/** As `shortlyPending`, but it gives up after a second in place of Liquibase's five minutes. */
export const impatient: Changes = {
  machine: { migration: shortMigration },
  environment: { [springSettings.liquibaseLockPollSeconds]: '0.3', [springSettings.liquibaseLockWaitMinutes]: '0.015' },
}

/** Gives the lock table back the one row that Liquibase expects, free, and takes out what the newer version did. */
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
