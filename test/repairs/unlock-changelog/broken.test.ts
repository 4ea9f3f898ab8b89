import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { journalQueuePrefix } from '../../../src/knowledge/broker.ts'
import type { HistoryDocument } from '../../../src/output/history.ts'
import { failpointsOf } from '../support/failpoints.ts'
import { lineTo } from './line.ts'
import type { Line } from './line.ts'
import { free, stuck } from './situation.ts'
import type { LockColumns, Situation } from './situation.ts'
import { decisive, isCampaign, spread, withinShare } from '../../support/campaign.ts'

const timeoutMs = 900_000
const kinds = ['stop-service', 'release-lock', 'start-service']

/** What befalls the database while a run is stopped at an instant, and how that is put right. */
const faults: Readonly<Record<string, (world: { at: Situation; line: Line }) => Promise<() => Promise<void>>>> = {
  async 'connections are cut'({ line }) {
    line.cut()
    return async () => undefined
  },
  async 'the database is out of reach'({ line }) {
    line.down()
    return async () => line.mend()
  },
  async 'nothing passes any more, and nobody is told'({ line }) {
    line.stall()
    return async () => line.mend()
  },
  async 'sessions are ended'({ at: { database } }) {
    await database.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE ' +
        "'testops-admin%' AND datname = current_database()",
    )
    return async () => undefined
  },
  async 'rights are taken away'({ at: { database } }) {
    const { user } = database.endpoint
    await database.query(
      `ALTER TABLE databasechangeloglock OWNER TO CURRENT_USER; GRANT SELECT ON databasechangeloglock TO ${user}`,
    )
    return async () => void (await database.query(`ALTER TABLE databasechangeloglock OWNER TO ${user}`))
  },
  async 'the table may not be read'({ at: { database } }) {
    const { user } = database.endpoint
    await database.query('ALTER TABLE databasechangeloglock OWNER TO CURRENT_USER')
    return async () => void (await database.query(`ALTER TABLE databasechangeloglock OWNER TO ${user}`))
  },
  async 'another session holds the row'({ at }) {
    return holding(at, 'SELECT 1 FROM databasechangeloglock FOR UPDATE')
  },
  async 'another session holds the table'({ at }) {
    return holding(at, 'LOCK TABLE databasechangeloglock')
  },
  async 'the database takes no change'({ at: { database } }) {
    await database.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`)
    await database.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE ' +
        "'testops-admin%' AND datname = current_database()",
    )
    return async () =>
      void (await database.query(
        `BEGIN READ WRITE; ALTER DATABASE ${database.name} RESET default_transaction_read_only; COMMIT`,
      ))
  },
}

/** What is left once somebody has seen to a run that was broken. */
interface End {
  /** of the broken run: it never is a bug */
  said: string
  /** of whoever saw to it afterwards */
  code: number | null
  row: LockColumns | null
  releases: number
  runs: boolean
  unfinished: number
  journals: number
}

const ways = [
  { name: 'gone on with', isUndone: false },
  { name: 'taken back', isUndone: true },
]

describe.concurrent('what befalls the database at instants of unlock-changelog, then', () => {
  test.each(ways)(
    '$name',
    async ({ isUndone }) => {
      const at = await stuck({ withBroker: true })
      const line = await lineTo(at.database.endpoint.hosts[0]!)
      await at.reachedAt(line.port)
      const ends: Record<string, End> = {}
      const expected: Record<string, Omit<End, 'said'>> = {}
      try {
        for (const [failpoint, fault] of withinShare(situations(isUndone ? 1 : 0))) {
          const held = await at.reset()
          const here = await at.someone.elsewhere()
          const begun = here.begin(
            ['unlock-changelog', '--confirm', 'prod', '--json', '--timeout', '2', '--patience', '10'],
            { failpoint: `${failpoint}=stop` },
          )
          await begun.untilStopped()
          const mend = await faults[fault]!({ at, line })
          begun.goOn()
          const { code, stdout, stderr } = await begun.ended
          await mend()
          const { error } = JSON.parse(stdout) as { error?: { code: string; message: string } }
          const { runs } = (await here.run(['history', '--json'])).json<HistoryDocument>()
          // a lock is put back only while the service is stopped
          if (isUndone && (await at.releases()) > 0) await at.service.stop()
          // what was over before it had begun is begun again
          const next = runs[0]!.state === 'unfinished' || code === 0 || code === 3 ? ['resume'] : ['unlock-changelog']
          const seen = await here.repair(isUndone ? ['undo', runs[0]!.run] : next)
          const name = `${fault} at ${failpoint}`
          const after = (await here.run(['history', '--json'])).json<HistoryDocument>().runs
          const queues = (await at.broker!.manage('GET', `/api/queues/${at.broker!.vhost}?columns=name`)) as {
            name: string
          }[]
          ends[name] = {
            said: [
              String(code),
              ...(error ? [error.code, error.message] : []),
              ...(stderr.includes('bug') ? [stderr] : []),
            ].join(' '),
            code: seen.code,
            row: await at.row(),
            releases: isUndone ? Math.max(1, await at.releases()) : await at.releases(),
            runs: await at.service.isRunning(),
            unfinished: after.filter(({ state }) => state === 'unfinished').length,
            journals: queues.filter(({ name: queue }) => queue.startsWith(journalQueuePrefix)).length,
          }
          expected[name] = { code: 0, row: isUndone ? held : free, releases: 1, runs: true, unfinished: 0, journals: 0 }
        }
      } finally {
        line.close()
        await at.leave()
      }
      expect(Object.fromEntries(Object.entries(ends).map(([name, { said: _, ...end }]) => [name, end]))).toEqual(
        expected,
      )
      expect(Object.entries(ends).filter(([, { said }]) => !clear.test(said))).toEqual([])
    },
    timeoutMs,
  )
})

/**
 * In the campaign, each fault at each instant. Otherwise each fault once: the two ways share the faults, and each fault
 * has its own instant.
 */
function situations(place: number): [failpoint: string, fault: string][] {
  const names = Object.keys(faults)
  const instants = failpointsOf(kinds)
  if (isCampaign) return instants.flatMap((failpoint) => names.map((name): [string, string] => [failpoint, name]))
  const own = spread(names, ways.length, place)
  return decisive(spread(instants, ways.length, place), own.length).map((failpoint, index) => [failpoint, own[index]!])
}

/** Done, though perhaps not verified, or one error that says what stopped it. */
const clear = /^([03]|(4|6|69) (INTERRUPTED|UNREACHABLE|TIMED_OUT|FORBIDDEN|REFUSED) \S.*)$/

/** A session of somebody's that has that locked until it is let go. */
async function holding({ database }: Situation, sql: string): Promise<() => Promise<void>> {
  const { hosts, user, password, database: name } = database.administrator
  const client = new pg.Client({ ...hosts[0]!, user: user!, password: password?.reveal() ?? '', database: name })
  await client.connect()
  await client.query(`BEGIN; ${sql}`)
  return async () => client.end()
}
