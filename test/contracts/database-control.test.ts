import { describe, expect, test } from 'vitest'
import { openDatabase, openDatabaseControls } from '../../src/adapters/postgres/index.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { fakeDatabaseControl } from '../fakes/index.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { databaseControlContract } from './database-control.ts'

const table =
  'CREATE TABLE databasechangeloglock (id int PRIMARY KEY, locked boolean NOT NULL, lockgranted timestamp, ' +
  'lockedby varchar(255))'

describe('in memory', () => {
  databaseControlContract(async (before) => {
    const of = { rows: [...before] }
    return { control: fakeDatabaseControl(() => of), rows: async () => of.rows, close: async () => undefined }
  })
})

describe('PostgreSQL', () => {
  databaseControlContract(async (before) => {
    const fresh = await freshDatabase()
    await fresh.query(table)
    await fresh.query(`ALTER TABLE databasechangeloglock OWNER TO ${fresh.endpoint.user}`)
    for (const { id, locked, lockGranted, lockedBy } of before)
      await fresh.query('INSERT INTO databasechangeloglock VALUES ($1, $2, $3, $4)', [
        id,
        locked,
        lockGranted,
        lockedBy,
      ])
    const controls = await openDatabaseControls([fresh.endpoint], { timeoutMs: 10_000 })
    const source = await openDatabase(fresh.endpoint, { timeoutMs: 10_000 })
    return {
      control: controls.source[0]!,
      rows: async () => (await source.source.changelogLocks())[0]?.rows ?? [],
      async close() {
        await controls.close()
        await source.close()
        await fresh.cleanup()
      },
    }
  })

  async function changing(prepare: (fresh: FreshDatabase) => Promise<unknown>): Promise<string | null> {
    const fresh = await freshDatabase()
    await prepare(fresh)
    const controls = await openDatabaseControls([fresh.endpoint], { timeoutMs: 10_000 })
    const failed = await failureOf(
      controls.source[0]!.releaseLock({ schema: 'public' }, { locked: true, lockGranted: null, lockedBy: 'x' }),
    )
    await controls.close()
    await fresh.cleanup()
    return failed
  }

  test('a table that may not be changed is named', async () => {
    expect(await changing(async (fresh) => fresh.query(table))).toMatch(/^FORBIDDEN /)
  })

  test('what is asked afterwards fails with a reason too', async () => {
    const fresh = await freshDatabase()
    const controls = await openDatabaseControls([fresh.endpoint], { timeoutMs: 10_000 })
    await fresh.query('REVOKE EXECUTE ON FUNCTION txid_status(bigint) FROM PUBLIC')
    expect(await failureOf(controls.source[0]!.hasCommitted(['3']))).toMatch(/^FORBIDDEN /)
    await controls.close()
    await fresh.cleanup()
  })

  test('a further database that does not open says why, once it is asked', async () => {
    const fresh = await freshDatabase()
    const other = { ...fresh.endpoint, database: 'no_such_database' }
    const controls = await openDatabaseControls([fresh.endpoint, other], { timeoutMs: 10_000 })
    expect(controls.source.map(({ target }) => target.split('/')[1])).toEqual([fresh.name, 'no_such_database'])
    expect(await failureOf(controls.source[1]!.insertLockRow({ schema: 'public' }))).toMatch(
      /^UNAVAILABLE PostgreSQL at .*: database no_such_database does not exist$/,
    )
    await controls.close()
    await fresh.cleanup()
  })

  test('a table that has lost its key, and has the row twice, is left alone', async () => {
    const said = await changing(async (fresh) => {
      await fresh.query(
        'CREATE TABLE databasechangeloglock (id int, locked boolean, lockgranted timestamp, lockedby varchar(255))',
      )
      await fresh.query(`ALTER TABLE databasechangeloglock OWNER TO ${fresh.endpoint.user}`)
      await fresh.query(`INSERT INTO databasechangeloglock SELECT 1, true, NULL, 'x' FROM generate_series(1, 2)`)
    })
    expect(said).toMatch(
      new RegExp(
        String.raw`^REFUSED public\.databasechangeloglock at .* has 2 rows with id 1 and no primary key. ` +
          'The table was not changed$',
      ),
    )
  })
})
