import { describe, expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { ChangelogLockRow, DatabaseSource } from '../../src/core/sources.ts'
import { lockRow } from '../fakes/index.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { expectPlain } from './plain.ts'

export interface DatabaseSituation {
  /** lock tables by schema; null: not readable. `public` is on the search path */
  locks?: Readonly<Record<string, readonly ChangelogLockRow[] | null>>
  /** another client's connections, idle; one if nothing is said */
  client?: { application: string; connections?: number }
}

/**
 * What every database source keeps, the fake as the real one. `open` makes the situation and a source that looks at it.
 */
export function databaseContract(
  open: (situation: DatabaseSituation) => Promise<Opened<DatabaseSource> & { user: string }>,
): void {
  const look = async <T>(
    situation: DatabaseSituation,
    question: (source: DatabaseSource, user: string) => Promise<T>,
  ): Promise<T> => {
    const { source, close, user } = await open(situation)
    try {
      const answer = await question(source, user)
      expectPlain(answer)
      return answer
    } finally {
      await close()
    }
  }

  test('says where and what it is', async () => {
    await look({}, async (source, user) => {
      expect(source.target).toMatch(/^[\w.[\]:-]+:\d+\/\w+$/)
      const identity = await source.identity()
      expect(identity.version).toMatch(/^\d+(\.\d+)?$/)
      expect(identity.user).toBe(user)
      expect(source.target.endsWith(`/${identity.database}`)).toBe(true)
      expect(identity.startedAt.getTime()).toBeLessThan(Date.now() + 1000)
      expect(identity.inRecovery).toBe(false)
      return identity
    })
  })

  test('reads the clock', async () => {
    const { offsetMs, uncertaintyMs } = await look({}, async (source) => source.clock())
    expect(Math.abs(offsetMs)).toBeLessThan(200)
    expect(uncertaintyMs).toBeGreaterThan(0)
    expect(uncertaintyMs).toBeLessThan(200)
  })

  describe('change-log locks', () => {
    const held = lockRow({
      locked: true,
      lockGranted: '2026-11-21 02:12:44.463171',
      lockedBy: 'vm (fd00:0:0:0:0:0:0:2%eth0)',
    })
    const table = (rows: readonly ChangelogLockRow[] | null, schema = 'public') => ({
      schema,
      inSearchPath: schema === 'public',
      rows,
      writable: false,
      removable: false,
    })
    const situations = [
      { what: 'no table', locks: {}, found: [] },
      { what: 'a free lock', locks: { public: [lockRow()] }, found: [table([lockRow()])] },
      { what: 'a held lock', locks: { public: [held] }, found: [table([held])] },
      { what: 'no row', locks: { public: [] }, found: [table([])] },
      {
        what: 'a second row',
        locks: { public: [lockRow(), { ...held, id: 2 }] },
        found: [table([lockRow(), { ...held, id: 2 }])],
      },
      {
        what: 'a half cleared row',
        locks: { public: [lockRow({ locked: true })] },
        found: [table([lockRow({ locked: true })])],
      },
      { what: 'another schema', locks: { other: [held] }, found: [table([held], 'other')] },
      {
        what: 'two schemas',
        locks: { public: [lockRow()], other: [held] },
        found: [table([held], 'other'), table([lockRow()])],
      },
      { what: 'a table that may not be read', locks: { public: null }, found: [table(null)] },
    ] satisfies { what: string; locks: DatabaseSituation['locks']; found: unknown[] }[]
    test.each(situations)('$what', async ({ locks, found }) => {
      expect(await look({ locks }, async (source) => source.changelogLocks())).toEqual(found)
    })
  })

  test('sees the other clients, and not itself', async () => {
    const backends = await look({ client: { application: 'the-service' } }, async (source) => source.backends())
    expect(backends.map(({ application, state }) => ({ application, state }))).toEqual([
      { application: 'the-service', state: 'idle' },
    ])
    expect(backends[0]?.startedAt).toBeInstanceOf(Date)
    expect(backends[0]?.query?.length ?? 0).toBeLessThanOrEqual(200)
  })

  test('counts connections', async () => {
    // more than one, as only those with most are told, and other tests use the same server
    const client = { application: 'the-service', connections: 4 }
    const { used, max, reserved, byUser } = await look({ client }, async (source) => source.connections())
    expect(used).toBeGreaterThanOrEqual(5)
    expect(max).toBeGreaterThanOrEqual(used)
    expect(reserved).toBeGreaterThanOrEqual(3)
    const service = byUser.find(({ application }) => application === 'the-service')
    expect(service).toMatchObject({ count: 4, idle: 4 })
    expect(byUser.some(({ application }) => application === 'testops-admin')).toBe(false)
  })

  test('knows its space', async () => {
    await look({}, async (source) => {
      expect(await source.temporarySpace()).toEqual({ writable: true })
      const storage = await source.storage()
      expect(storage.databaseBytes).toBeGreaterThan(1_000_000)
      expect(storage.freeBytes === null).toBe(storage.totalBytes === null)
      return storage
    })
  })

  test('returns the rows of a SELECT as JSON has them', async () => {
    const statement = "SELECT $1::int AS n, 'x' AS t, true AS b, NULL AS e"
    expect(await look({}, async (source) => source.select(statement, [7]))).toEqual({
      rows: [{ n: 7, t: 'x', b: true, e: null }],
      complete: true,
    })
  })

  test('fails with a reason once it is closed', async () => {
    const { source, close } = await open({})
    await close()
    await close()
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE .*PostgreSQL at /)
    expect(await failureOf(source.changelogLocks())).toMatch(/^UNREACHABLE .*PostgreSQL at /)
    expect(await failureOf(source.select('SELECT 1'))).toMatch(/^UNREACHABLE .*PostgreSQL at /)
  })
}
