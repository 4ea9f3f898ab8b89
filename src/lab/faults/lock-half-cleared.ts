import { onDatabase } from '../access/database.ts'
import type { Expected, Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { restartLabService, waitUntilEnded } from '../service.ts'
import { serviceFails } from './consequences.ts'
import { impatient, restoreChangelog } from './migration.ts'

const cannotStart: Expected = {
  exitCode: 1,
  problems: { 'database/changelog-lock': 'error' },
  allowedConsequences: serviceFails,
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
  title: 'the lock table is not as Liquibase leaves it',
  repair: 'testops-admin unlock-changelog; move a table in the wrong schema back by hand',
  cases: [
    {
      variant: 'null-granted',
      made: 'the row is locked, but lockgranted and lockedby are empty: somebody cleared two of three columns; a newer version of the service fails to start',
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
      made: 'the table has a row, but not with id 1: somebody restored it by hand; a newer version of the service fails to start',
      expected: cannotStart,
      repairedBy: ['unlock-changelog'],
      changes: impatient,
      apply: (lab) => sqlThenFailedStart(lab, 'UPDATE databasechangeloglock SET id = 2 WHERE id = 1'),
      revert: restoreChangelog,
    },
    {
      variant: 'second-row',
      made: 'the table has a second row, which is locked; the row that counts is free',
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
      made: `the table is in schema \`${strange}\`, where the service does not look`,
      expected: unnoticed,
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
      made: 'a dump taken during a migration is restored into schema `restored`: its lock table says locked, but nobody holds that lock',
      expected: unnoticed,
      repairedBy: ['unlock-changelog', '--schema', 'restored'],
      apply: (lab) =>
        onDatabase(lab, async (sql) => {
          await sql(`CREATE SCHEMA IF NOT EXISTS restored AUTHORIZATION ${await owner(sql)}`)
          await sql(
            'CREATE TABLE IF NOT EXISTS restored.databasechangeloglock (LIKE public.databasechangeloglock INCLUDING ALL)',
          )
          await sql(`ALTER TABLE restored.databasechangeloglock OWNER TO ${await owner(sql)}`)
          await sql(
            `INSERT INTO restored.databasechangeloglock VALUES (1, TRUE, now() - interval '3 days', 'testops-6d4cf56db6-x2k4p (10.42.0.191)') ON CONFLICT DO NOTHING`,
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
