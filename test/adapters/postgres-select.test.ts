import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import type { Opened } from '../../src/core/endpoint.ts'
import type { DatabaseSource } from '../../src/core/sources.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'

let database: FreshDatabase
let opened: Opened<DatabaseSource>
const select: DatabaseSource['select'] = async (...input) => opened.source.select(...input)

beforeAll(async () => {
  database = await freshDatabase()
  await database.query('CREATE TABLE outbox (id int PRIMARY KEY, sent_at timestamptz, body text)')
  await database.query('CREATE SEQUENCE counter')
  await database.query("INSERT INTO outbox SELECT n, NULL, 'x' FROM generate_series(1, 2500) AS n")
  await database.query(`GRANT ALL ON outbox, counter TO ${database.endpoint.user}`)
  opened = await openDatabase(database.endpoint, { timeoutMs: 2000 })
})
afterAll(async () => {
  await opened.close()
  await database.cleanup()
})

const rowsLeft = async (): Promise<unknown> => (await database.query('SELECT count(*)::int AS n FROM outbox'))[0]?.['n']

describe('a statement that somebody else wrote', () => {
  test.each<[statement: string, values: readonly (string | number)[], rows: object[]]>([
    ['SELECT count(*) AS waiting FROM outbox WHERE sent_at IS NULL', [], [{ waiting: 2500 }]],
    ['SELECT id FROM outbox WHERE id = $1 AND body = $2', [7, 'x'], [{ id: 7 }]],
    ['SELECT 1 AS a;  \n', [], [{ a: 1 }]],
    ['SELECT 1 AS a -- why', [], [{ a: 1 }]],
    ['WITH a AS (SELECT 2 AS b) SELECT b FROM a', [], [{ b: 2 }]],
    ['VALUES (1)', [], [{ column1: 1 }]],
    ["SELECT timestamptz '2026-01-02 03:04:05+00' AT TIME ZONE 'UTC' AS at", [], [{ at: '2026-01-02T03:04:05' }]],
    ['SELECT id FROM outbox ORDER BY id DESC LIMIT 2', [], [{ id: 2500 }, { id: 2499 }]],
    ['SELECT id FROM outbox WHERE false', [], []],
  ])('%j returns rows', async (statement, values, rows) => {
    expect(await select(statement, values)).toEqual({ rows, complete: true })
  })

  test('returns 1000 rows at most, and says that there are more', async () => {
    const { rows, complete } = await select('SELECT id FROM outbox ORDER BY id')
    expect([rows.length, rows[0], rows.at(-1), complete]).toEqual([1000, { id: 1 }, { id: 1000 }, false])
  })

  test.each<[statement: string, said: RegExp]>([
    ['DELETE FROM outbox', /^UNEXPECTED_ANSWER .*syntax error.*\(42601\)/],
    ['DELETE FROM outbox RETURNING id', /^UNEXPECTED_ANSWER .*syntax error/],
    ['WITH gone AS (DELETE FROM outbox RETURNING id) SELECT id FROM gone', /^UNEXPECTED_ANSWER .*\(0A000\)/],
    [
      // balances what stands around it
      "SELECT 1) AS answer) AS lines; COMMIT; DELETE FROM outbox; SELECT line FROM (SELECT 'x' AS line FROM (SELECT 1",
      /^UNEXPECTED_ANSWER .*cannot insert multiple commands/,
    ],
    ['SELECT 1; DELETE FROM outbox', /^UNEXPECTED_ANSWER .*syntax error/],
    ['SELECT id FROM outbox FOR UPDATE', /^REFUSED .*read-only transaction/],
    ["SELECT nextval('counter')", /^REFUSED .*cannot execute nextval\(\) in a read-only transaction/],
    ["SELECT set_config('transaction_read_only', 'off', false)", /^UNEXPECTED_ANSWER .*read-write mode/],
    ['SELECT nothing FROM nowhere', /^UNEXPECTED_ANSWER .*nowhere/],
    ["SELECT repeat('x', 10001) AS long", /^UNEXPECTED_ANSWER .*a row has more than 10000 bytes/],
    ['commit', /^UNEXPECTED_ANSWER [^:]+:\d+\/\w+: the statement is not one whole SELECT \(42601\)$/],
    ['SELECT id FROM outbox WHERE (', /: the statement is not one whole SELECT \(42601\)$/],
    ["SELECT '\u{1f600}abc", /: unterminated quoted string at or near "'\u{1f600}abc" \(42601\)$/u],
    ['SELECT $$abc', /: unterminated dollar-quoted string at or near "\$\$abc" \(42601\)$/],
    ['SELECT 1 /* why', /: unterminated \/\* comment at or near "\/\* why" \(42601\)$/],
    ['SELECT id FRM outbox', /: syntax error at or near "outbox" \(42601\)$/],
    [
      'SELECT rolpassword FROM pg_authid',
      /^FORBIDDEN .*: user \S+ lacks SELECT ON pg_authid: permission denied for table pg_authid$/,
    ],
    ['SELECT pg_sleep(60)', /^TIMED_OUT .*did not finish a statement in time/],
  ])('%j is refused, and changes nothing', async (statement, said) => {
    expect(await failureOf(select(statement))).toMatch(said)
    expect(await rowsLeft()).toBe(2500)
    expect(await select('SELECT 1 AS a')).toEqual({ rows: [{ a: 1 }], complete: true })
  })

  test('names no command that would let it read more', async () => {
    expect((await errorOf(select('SELECT rolpassword FROM pg_authid')))?.suggestions).toEqual([])
  })

  test('keeps no question of the program waiting', async () => {
    const long = failureOf(select('SELECT pg_sleep(60)'))
    const begin = performance.now()
    await opened.source.connections()
    expect(performance.now() - begin).toBeLessThan(1000)
    expect(await long).toMatch(/^TIMED_OUT /)
  })

  test('a connection that is still being opened is closed with the others', async () => {
    const other = await openDatabase(database.endpoint, { timeoutMs: 2000 })
    const asked = failureOf(other.source.select('SELECT 1')).catch(() => null)
    await other.close()
    await asked
    await expect
      .poll(
        async () =>
          (
            await database.query(
              "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'testops-admin' AND " +
                'datname = current_database()',
            )
          )[0]?.['n'],
        { timeout: 5000 },
      )
      // those of `opened`
      .toBe(2)
  })
})
