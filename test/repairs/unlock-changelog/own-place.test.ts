import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { free, stuck } from './situation.ts'
import type { Situation } from './situation.ts'

let at: Situation
beforeAll(async () => void (at = await stuck()))
afterAll(async () => at.leave())

test('a table in a schema and of a name of the service’s own is released, ' +
  'taken back and resumed where it is', async () => {
  const held = await at.reset()
  const { user } = at.database.endpoint
  await at.database.query(
    `CREATE SCHEMA migrations AUTHORIZATION ${user};
    CREATE TABLE migrations."migration_lock" (LIKE public.databasechangeloglock INCLUDING ALL);
    ALTER TABLE migrations.migration_lock OWNER TO ${user};
    INSERT INTO migrations.migration_lock SELECT * FROM public.databasechangeloglock`,
  )
  await at.write(free)
  const own =
    'SPRING_LIQUIBASE_LIQUIBASE_SCHEMA=migrations\n' +
    'SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE=MIGRATION_LOCK\n'
  await at.service.settings(
    `SPRING_DATASOURCE_URL=jdbc:postgresql://127.0.0.1:${at.database.endpoint.hosts[0]!.port}` +
      `/${at.database.name}\nSPRING_DATASOURCE_USERNAME=${user}\nTZ=UTC\n${own}`,
  )
  const row = async (): Promise<unknown> => {
    const [found] = await at.database.query(
      "SELECT locked, to_char(lockgranted, 'YYYY-MM-DD HH24:MI:SS.US') AS lockgranted, lockedby FROM " +
        'migrations.migration_lock WHERE id = 1',
    )
    return found
  }
  const locked = await at.someone.run(['doctor', '--only', 'database/changelog-lock', '--json'])
  expect([locked.code, locked.stdout], locked.stderr).toEqual([
    2,
    expect.stringContaining('FROM migrations.migration_lock'),
  ])

  await at.someone.killedAt('release-lock:judged', ['unlock-changelog'])
  const done = await at.someone.repair(['resume'])
  const { run, plan } = done.json<RepairDocument>()
  expect({ code: done.code, row: await row(), title: plan.steps[1]!.title }, done.stderr).toEqual({
    code: 0,
    row: free,
    title: expect.stringMatching(/^release the lock in migrations\.migration_lock at /) as string,
  })
  await at.service.stop()
  const undone = await at.someone.repair(['undo', run!])
  expect({ code: undone.code, row: await row(), usual: await at.row() }, undone.stderr).toEqual({
    code: 0,
    row: held,
    usual: free,
  })
}, 120_000)
