import type { Socket } from 'node:net'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDatabases } from '../../../src/adapters/postgres/index.ts'
import type { DatabaseEndpoint } from '../../../src/core/endpoint.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { LogsSource, ServiceOrigin, ServiceSource, Sources } from '../../../src/core/sources.ts'
import { unlockChangelog } from '../../../src/repairs/unlock-changelog.ts'
import type { UnlockOptions } from '../../../src/repairs/unlock-changelog.ts'
import {
  ago,
  fakeApi,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  lockTable,
  record,
  running,
  settings,
  stopped,
  unreachable,
} from '../../fakes/index.ts'
import { failureOf } from '../../adapters/failure-of.ts'
import { freshDatabase } from '../../servers/index.ts'

type Parts = Parameters<typeof unlockChangelog.plan>[0]
type Around = Omit<Parts, 'database'>

/** of the server, which the service's settings name, too */
let serverPort = 0
beforeAll(async () => {
  const fresh = await freshDatabase()
  serverPort = fresh.endpoint.hosts[0]!.port
  await fresh.cleanup()
})

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const
const columns = 'id int NOT NULL, locked boolean NOT NULL, lockgranted timestamp, lockedby varchar(255)'
const held = "(1, true, now() AT TIME ZONE 'UTC', 'testops-1 (10.0.0.7)')"

interface Case {
  situation: string
  /** values of the rows */
  rows?: string
  /**
   * SQL of the service's own sessions, opened before the lock is taken; each is at work on it while the plan is made
   */
  before?: readonly string[]
  /** the same, of a user that is none of the service's */
  foreign?: readonly string[]
  /** the same, of a user whose sessions may not be seen */
  hidden?: readonly string[]
  /** the same, after it was taken */
  after?: readonly string[]
  around?: (user: string) => Partial<Around>
  timeZone?: string | null
  /** the service's settings alone tell it */
  assumed?: true
  options?: Partial<UnlockOptions>
  /** SQL of the superuser before the plan is made; `{user}` is the service's */
  sql?: string
  /** a role other than the service's asks, with these rights */
  asks?: readonly string[]
  /** 'dead', a risk, 'nothing', 'insert', or a code with its message */
  expected: string | RegExp
  /** the notes or the risk hold it */
  says?: RegExp
}

const instance = (startedAt: Date | null, host = 'testops-1'): ServiceSource =>
  fakeService({ status: running({ instances: [{ name: 'testops.service', host, pid: 812, startedAt }] }) })
const withUser = (service: ServiceSource, user: string): ServiceSource => ({
  ...service,
  environment: async () =>
    settings({
      SPRING_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${serverPort}/${user.replace(/_0$/, '')}`,
      SPRING_DATASOURCE_USERNAME: user,
    }),
})
/** started again right after the lock was taken, in milliseconds from now */
const restarted = (user: string, inMs = -50): Partial<Around> => ({
  service: withUser(instance(new Date(Date.now() + inMs)), user),
})
/** has run for an hour */
const older = (user: string): Partial<Around> => ({
  service: withUser(instance(ago(3_600_000)), user),
  api: unreachable('api'),
})
const off = (user: string): Partial<Around> => ({
  service: withUser(fakeService({ status: stopped() }), user),
  api: unreachable('api'),
})
const waits = (at = new Date()): LogsSource =>
  fakeLogs({
    recent: {
      complete: true,
      records: [record('INFO liquibase.lockservice : Waiting for changelog lock....', { at })],
    },
  })
/** before any lock of these cases was taken */
const waited = waits()
/** what the service's log tells that it did to the lock, at last a moment ago */
const told = (...what: readonly ('acquired' | 'released')[]): LogsSource =>
  fakeLogs({
    recent: {
      complete: true,
      records: what.map((one) =>
        record(`INFO liquibase.lockservice : Successfully ${one} change log lock`, { at: new Date() }),
      ),
    },
  })
/** of a JVM that was told another time zone than the settings name */
const inNewYork = "(1, true, now() AT TIME ZONE 'America/New_York', 'testops-1 (10.0.0.7)')"
const work = 'SELECT pg_sleep(60)'
/** what a waiter of Liquibase's sits in (SERVERS.md) */
const waiting = 'BEGIN; SHOW SEARCH_PATH /* of the service */'
/** the same in a Liquibase that is at work in Java (FIELD-NOTES.md 2) */
const inJava = 'BEGIN; SHOW SEARCH_PATH'

const cases: readonly Case[] = [
  {
    situation: 'started again since, no session is left',
    around: restarted,
    expected: 'dead',
    says: /the process that took the lock has ended: testops-1 was restarted later, at/,
  },
  {
    situation: 'stopped, no session is left',
    around: off,
    expected: 'dead',
    says: new RegExp(
      'the holder is dead: no instance of the service is running; no open database session can belong to the lock ' +
        'holder',
    ),
  },
  {
    situation: 'started again, and waits in a transaction',
    around: (user) => ({ ...restarted(user, -4000), logs: waits() }),
    before: [`${waiting} /* 6 s */`],
    expected: 'dead',
    says: /the service itself is waiting for the lock/,
  },
  {
    situation: 'started again, and its session is in a transaction, for what the log does not show',
    around: (user) => restarted(user, -4000),
    before: [`${waiting} /* 6 s */`],
    expected: 'unproven-holder',
    says: /it is unclear whether testops-1 took the lock before or after its last start/,
  },
  {
    situation: 'stopped, and its last statement still runs',
    around: off,
    before: [work],
    expected: 'live-holder',
    says: /database session \d+ \(active for .*SELECT pg_sleep/,
  },
  {
    situation: 'started again, and the last statement of the former process still runs',
    around: restarted,
    before: [work],
    expected: 'live-holder',
  },
  {
    situation: 'stopped, and a session of before sits between two statements',
    around: off,
    before: ['BEGIN; INSERT INTO done VALUES (1)'],
    expected: 'live-holder',
  },
  {
    situation: 'stopped, and an idle session of before is open',
    around: off,
    before: ['SELECT 1'],
    expected: 'unproven-holder',
    says: new RegExp(
      String.raw`an open database session may belong to the lock holder: database session \d+ \(idle for .*\n` +
        String.raw`Find out which clients hold the open database sessions, ` +
        String.raw`and wait until these sessions have ended\.\n` +
        'psql -h ',
    ),
  },
  {
    situation: 'runs since before, and does not answer',
    around: older,
    expected: 'live-holder',
    says: /testops\.service on testops-1 \(process 812\)/,
  },
  {
    situation: 'runs since before, has no API that is known',
    around: (user) => ({ ...older(user), api: new AdminError('NOT_CONFIGURED', 'no url') }),
    expected: 'live-holder',
  },
  {
    situation: 'runs since before, and waits for the lock of a dead one',
    around: (user) => ({ ...older(user), logs: waits() }),
    before: [`${waiting} /* 6 s */`],
    expected: 'dead',
    says: /the service itself is waiting for the lock/,
  },
  {
    situation: 'runs since before, and waited until a moment ago for what it may have got since',
    around: (user) => ({ ...older(user), logs: waited }),
    before: [waiting],
    expected: 'live-holder',
  },
  {
    situation: 'runs since before, waits, and another process of its machine migrates',
    around: (user) => ({ ...older(user), logs: waits() }),
    before: [`${work} /* 6 s */`],
    expected: 'live-holder',
  },
  {
    situation: 'answers since before, took it by its own log, at its usual work',
    around: (user) => ({ ...older(user), logs: told('acquired'), api: fakeApi() }),
    before: ['SELECT 1 /* of the service */', 'BEGIN; SELECT 2 /* of the service */'],
    expected: 'dead',
    says: /testops-1 has finished its migration/,
  },
  {
    situation: 'answers since before, and another process of its machine migrates',
    around: (user) => ({ ...older(user), api: fakeApi() }),
    before: [work],
    expected: 'live-holder',
  },
  {
    situation: 'answers since before, at its daily work, and did not take it by its own log',
    around: (user) => ({ ...older(user), api: fakeApi() }),
    before: [`${work} /* of the service */`],
    expected: 'unproven-holder',
    says: new RegExp(
      String.raw`another process may be migrating.*\n` +
        String.raw`Make sure that no separate Liquibase process is running beside the service\.\n` +
        'ps -fC java {3}# on testops-1',
    ),
  },
  {
    situation: 'answers since before, took it by its own log, and a session of another process sits in a transaction',
    around: (user) => ({ ...older(user), logs: told('acquired'), api: fakeApi() }),
    before: [inJava],
    expected: 'unproven-holder',
    says: /an open database session may belong to the lock holder/,
  },
  ...['UTC', 'America/New_York', null].flatMap((timeZone) =>
    [inJava, 'SELECT 1'].map(
      (what): Case => ({
        situation:
          `taken in New York while the zone is ${timeZone}, the service was started again, and another process ` +
          `sits at ${what}`,
        rows: inNewYork,
        timeZone,
        around: restarted,
        after: [what],
        expected: 'unproven-holder',
        says: /an open database session may belong to the lock holder: database session \d+ \(idle/,
      }),
    ),
  ),
  {
    situation:
      'answers since before, gave back what it took by its own log, and another process of its machine ' +
      'migrates in small steps',
    around: (user) => ({ ...older(user), logs: told('acquired', 'released'), api: fakeApi() }),
    before: ['BEGIN; SELECT 2 /* of the service */'],
    expected: 'unproven-holder',
    says: new RegExp(
      String.raw`another process may be migrating.*\n` +
        String.raw`Make sure that no separate Liquibase process is running beside the service\.\n` +
        'ps -fC java {3}# on testops-1',
    ),
  },
  {
    situation: 'answers, and nobody knows its time zone',
    rows: "(1, true, now() AT TIME ZONE 'Asia/Tokyo', 'testops-1 (10.0.0.7)')",
    timeZone: null,
    around: (user) => ({ ...older(user), api: fakeApi() }),
    expected: 'unproven-holder',
    says: /it is unclear whether testops-1 took the lock before or after its last start/,
  },
  {
    situation: 'runs since before, waits, and another process of its machine migrates in small steps',
    around: (user) => ({ ...older(user), logs: waits() }),
    before: ['BEGIN; INSERT INTO done VALUES (1) /* 6 s */'],
    expected: 'live-holder',
    says: /INSERT INTO done/,
  },
  {
    situation: 'the platform cannot be asked',
    around: () => ({ service: unreachable('service') }),
    options: { restart: false },
    expected: 'unproven-holder',
    says: /the platform does not show the service/,
  },
  {
    situation: 'the platform knows that it runs, and no more',
    around: (user) => ({
      service: withUser(fakeService({ status: running({ instances: [] }) }), user),
      api: unreachable('api'),
    }),
    expected: 'unproven-holder',
    says: /it is unclear whether testops-1 took the lock before or after its last start/,
  },
  {
    situation: 'taken on another host',
    rows: "(1, true, now() AT TIME ZONE 'UTC', 'elsewhere (10.0.0.9)')",
    around: restarted,
    expected: 'unproven-holder',
    says: /elsewhere, the host named in the lock, is not an instance of the service/,
  },
  {
    situation: 'taken on another host, and the service is stopped',
    rows: "(1, true, now() AT TIME ZONE 'UTC', 'elsewhere (10.0.0.9)')",
    around: off,
    expected: 'unproven-holder',
    says: /names host elsewhere, and testops-admin cannot see what runs there/,
  },
  {
    situation: 'other sessions may not be seen',
    around: restarted,
    after: ['SELECT 1'],
    asks: ['GRANT SELECT, UPDATE, INSERT, DELETE ON databasechangeloglock TO {role}'],
    expected: 'unproven-holder',
    says: /GRANT pg_read_all_stats/,
  },
  {
    situation: 'the service signs in as a user that is not known, who is at work',
    around: () => ({ service: fakeService({ status: stopped() }), api: unreachable('api') }),
    before: [work],
    asks: [
      'GRANT SELECT, UPDATE, INSERT, DELETE ON databasechangeloglock TO {role}',
      'GRANT pg_read_all_stats TO {role}',
    ],
    expected: 'unproven-holder',
    says: /the service's database user is unknown/,
  },
  {
    situation: 'nobody knows its time zone, the service waits',
    rows: "(1, true, now() AT TIME ZONE 'Asia/Tokyo', 'testops-1 (10.0.0.7)')",
    timeZone: null,
    around: (user) => ({ ...older(user), logs: waits() }),
    before: [`${waiting} /* 6 s */`],
    expected: 'dead',
    says: /in an unknown time zone/,
  },
  {
    situation: 'nobody knows its time zone, and nothing else tells',
    rows: "(1, true, now() AT TIME ZONE 'Asia/Tokyo', 'testops-1 (10.0.0.7)')",
    timeZone: null,
    around: older,
    expected: 'unproven-holder',
    says: /before or after its last start/,
  },
  {
    situation: 'taken in another time zone than the settings name, and the statement of the JVM that was killed runs',
    rows: inNewYork,
    assumed: true,
    around: off,
    before: [work],
    expected: 'unproven-holder',
    says: new RegExp(
      '^(?![^]*is dead)[^]*an open database session may belong to the lock holder: ' +
        String.raw`database session \d+ \(active for `,
    ),
  },
  {
    situation:
      'taken in another time zone than the settings name, and another process of the machine migrates beside ' +
      'the service',
    rows: inNewYork,
    assumed: true,
    around: (user) => ({ ...restarted(user), api: unreachable('api') }),
    before: [work],
    expected: 'unproven-holder',
    says: /an open database session may belong to the lock holder/,
  },
  {
    situation: 'taken in another time zone than the settings name, and nobody is at work',
    rows: inNewYork,
    assumed: true,
    around: off,
    before: ['SELECT 1'],
    expected: 'unproven-holder',
    says: /^(?![^]*is dead)[^]*an open database session may belong to the lock holder: database session \d+ \(idle/,
  },
  {
    situation:
      'of former times in the time zone that the configuration names, and somebody works while the service does not',
    rows: inNewYork,
    around: off,
    before: [work],
    expected: 'unproven-holder',
    says: /an open database session may belong to the lock holder: database session \d+ \(active/,
  },
  {
    situation: 'locked without a time and a name, the service has given up',
    rows: '(1, true, NULL, NULL)',
    around: off,
    expected: 'dead',
    says: /has a locked row in which lockgranted and lockedby are NULL/,
  },
  {
    situation: 'locked without a time and a name, and a session is at work',
    rows: '(1, true, NULL, NULL)',
    around: off,
    after: [work],
    expected: 'live-holder',
  },
  {
    situation: 'locked without a name',
    rows: "(1, true, now() AT TIME ZONE 'UTC', NULL)",
    around: off,
    expected: 'dead',
    says: /has a locked row in which lockedby is NULL/,
  },
  {
    situation: 'free',
    rows: '(1, false, NULL, NULL)',
    expected: 'nothing',
    says: /public\.databasechangeloglock at .* is free/,
  },
  {
    situation: 'free, with a second row',
    rows: "(1, false, NULL, NULL), (2, true, now(), 'x')",
    expected: 'remove',
    says: /is free\n.*has extra rows \(id 2\)/,
  },
  {
    situation: 'free, with more rows than anybody looks at',
    rows: '(1, false, NULL, NULL)',
    sql: 'INSERT INTO databasechangeloglock SELECT n, false FROM generate_series(-30, 60) n WHERE n <> 1',
    expected: 'nothing',
    says: /is free\n.*has extra rows \(id /,
  },
  {
    situation: 'held by a dead one, with a second row',
    rows: `${held}, (2, false, NULL, NULL)`,
    around: off,
    expected: 'dead then remove',
  },
  { situation: 'no row with id 1', rows: '(2, false, NULL, NULL)', around: off, expected: 'insert then remove' },
  { situation: 'no row at all', rows: '', around: off, expected: 'insert' },
  { situation: 'no row at all, and nothing tells where the service is', rows: '', expected: 'insert' },
  {
    situation: 'no row at all, and a migration is at work',
    rows: '',
    around: off,
    after: [work],
    expected: 'live-holder',
    says: /database session \d+ \(active for .*SELECT pg_sleep/,
  },
  {
    situation: 'a DBA migrates by Java as another user',
    around: restarted,
    foreign: [work],
    expected: 'unproven-holder',
    says: new RegExp(
      String.raw`1 session of \S+ \(PID \d+ of PostgreSQL JDBC Driver\) may hold the lock.*\n` +
        'Find out what the database sessions of other users are doing, ' +
        String.raw`and wait until these sessions have ended\.\npsql -h `,
    ),
  },
  {
    situation: 'somebody migrates as another user by a program of any name, between two statements',
    around: off,
    foreign: ['SELECT 1 /* of release-tool */'],
    sql: 'GRANT UPDATE ON databasechangeloglock TO PUBLIC',
    expected: 'unproven-holder',
    says: /1 session of \S+ \(PID \d+ of release-tool\)/,
  },
  {
    situation: 'somebody who may not take the lock has a session that does nothing',
    around: off,
    foreign: ['SELECT 1 /* of release-tool */'],
    expected: 'dead',
  },
  {
    situation: 'a report of another program is at work',
    around: restarted,
    foreign: [`${work} /* of pg_dump */`],
    expected: 'dead',
  },
  {
    situation: 'a DBA migrates by Java as another user, and hides it',
    around: off,
    hidden: [work],
    expected: 'unproven-holder',
    says: new RegExp(
      '^(?![^]*no open database session)[^]*this database user has no permission to see ' +
        String.raw`the activity and age of 1 session of \S+ \(PID \d+ of PostgreSQL JDBC Driver\)[^]*\n` +
        String.raw`Let the database user of testops-admin see all sessions\.\npsql .*GRANT pg_read_all_stats TO `,
    ),
  },
  {
    situation: 'a DBA works by Java as another user, and hides it; as whom the service signs in is not known',
    around: () => ({ service: fakeService({ status: stopped() }), api: unreachable('api') }),
    hidden: [work],
    expected: 'unproven-holder',
    says: /GRANT pg_read_all_stats TO "/,
  },
  {
    situation: 'a report of another program is at work, and hides it',
    around: off,
    hidden: [`${work} /* of pg_dump */`],
    expected: 'dead',
    says: /no open database session can belong to the lock holder/,
  },
  {
    situation: 'two rows with id 1',
    rows: `${held}, (1, false, NULL, NULL)`,
    around: off,
    expected: new RegExp(
      String.raw`^REFUSED public\.databasechangeloglock at \S+ has 2 rows with id 1, ` +
        'because it has no primary key[.] .*' +
        String.raw`\(1 \| t \| \S+ \S+ \| testops-1 \(10\.0\.0\.7\), 1 \| f \| null \| null\)$`,
    ),
  },
  {
    situation: 'no table',
    sql: 'DROP TABLE databasechangeloglock',
    expected: new RegExp(
      String.raw`^UNEXPECTED_ANSWER no table databasechangeloglock in \S+: ` +
        'Liquibase has not created the table yet, or the service uses a different database$',
    ),
  },
  {
    situation: 'the table lies where the service does not look',
    around: off,
    sql: 'CREATE SCHEMA attic AUTHORIZATION {user}; ALTER TABLE databasechangeloglock SET SCHEMA attic',
    expected: 'dead',
    says: /is in schema attic, and nothing shows that the service uses that schema/,
  },
  {
    situation: 'a second table elsewhere is held',
    rows: '(1, false, NULL, NULL)',
    around: off,
    sql:
      `CREATE SCHEMA attic AUTHORIZATION {user} CREATE TABLE databasechangeloglock (${columns}); ALTER TABLE ` +
      `attic.databasechangeloglock OWNER TO {user}; INSERT INTO attic.databasechangeloglock VALUES ${held}`,
    expected: 'nothing',
    says: new RegExp(
      String.raw`testops-1 \(10\.0\.0\.7\) holds the lock in attic\.databasechangeloglock, ` +
        '.*To release the lock, pass --schema attic',
    ),
  },
  {
    situation: 'a second table elsewhere is held, and named',
    rows: '(1, false, NULL, NULL)',
    around: off,
    sql:
      `CREATE SCHEMA attic AUTHORIZATION {user} CREATE TABLE databasechangeloglock (${columns}); ALTER TABLE ` +
      `attic.databasechangeloglock OWNER TO {user}; INSERT INTO attic.databasechangeloglock VALUES ${held}`,
    options: { schema: 'attic' },
    expected: 'dead',
  },
  {
    situation: 'a schema that has none',
    around: off,
    options: { schema: 'attic' },
    expected: 'USAGE schema attic has no table databasechangeloglock; schemas with this table: public',
  },
  {
    situation: 'the table may not be read',
    around: off,
    asks: [],
    expected: /^FORBIDDEN \S+ has no permission to read public\.databasechangeloglock at /,
  },
  {
    situation: 'the user may only read, as long as nothing else is said',
    around: off,
    sql: 'ALTER ROLE {user} SET default_transaction_read_only = on',
    expected: /^REFUSED PostgreSQL at \S+ is read-only for \S+ \(default_transaction_read_only\)$/,
  },
  {
    situation: 'the user may only read, and the lock is free',
    rows: '(1, false, NULL, NULL)',
    sql: 'ALTER ROLE {user} SET default_transaction_read_only = on',
    expected: 'nothing',
  },
  {
    situation: 'rows may not be deleted',
    rows: "(1, false, NULL, NULL), (2, true, now(), 'x')",
    asks: ['GRANT SELECT, UPDATE, INSERT ON databasechangeloglock TO {role}'],
    expected: /^FORBIDDEN user \S+ has no permission to change public\.databasechangeloglock at /,
  },
  {
    situation: 'the row may not be changed',
    around: off,
    asks: ['GRANT SELECT ON databasechangeloglock TO {role}'],
    expected: /^FORBIDDEN user \S+ has no permission to change public\.databasechangeloglock at /,
  },
  {
    situation: 'how the service is stopped is not known',
    around: () => ({
      service: new AdminError('NOT_CONFIGURED', 'no start and stop commands are configured'),
    }),
    expected: 'NOT_CONFIGURED cannot stop and start the service: no start and stop commands are configured',
  },
]

describe.concurrent('what is said of a lock:', () => {
  test.for(cases)('$situation', async (situation, { expect, onTestFinished }) => {
    const { expected, says } = situation
    const { verdict, told } = await planned(situation, onTestFinished)
    if (typeof expected === 'string') expect(verdict, told).toBe(expected)
    else expect(verdict).toMatch(expected)
    if (says) expect(told).toMatch(says)
  })

  test('a server in recovery is refused', async () => {
    const identity = {
      version: '15.8',
      user: 'testops',
      database: 'testops',
      startedAt: ago(9e6),
      inRecovery: true,
      port: 5432,
      pooled: false,
    }
    const database = [fakeDatabase({ identity, changelogLocks: [lockTable([lockRow({ locked: true })])] })] as const
    const plan = unlockChangelog.plan(
      { database, service: fakeService(), logs: fakeLogs(), api: fakeApi() },
      deployment,
      { restart: true, schema: null },
    )
    await expect(plan).rejects.toThrow(/^PostgreSQL at db\.example\.org:5432\/testops is in recovery/)
  })

  test('a second data source is looked at too, and does not hinder where it is down', async () => {
    const [main, second, third] = [
      fakeDatabase(),
      fakeDatabase({
        target: 'db2:5432/uploads',
        changelogLocks: [lockTable([lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)' })])],
        backends: [],
      }),
      fakeDatabase({
        target: 'db3:5432/analytics',
        identity: new AdminError('UNREACHABLE', 'PostgreSQL at db3:5432 refused the connection'),
      }),
    ]
    const parts = {
      database: [main, second, third] as const,
      service: fakeService({ status: stopped() }),
      logs: fakeLogs(),
      api: unreachable('api'),
    }
    const { steps, notes, target } = await unlockChangelog.plan(parts, deployment, { restart: true, schema: null })
    expect({ steps: steps.map(({ title }) => title), left: notes.at(-1), target }).toEqual({
      steps: [
        'stop the service',
        'release the lock in public.databasechangeloglock at db2:5432/uploads, held by testops-1 (10.0.0.7)',
        'start the service and wait until it answers and the change-log lock is free',
      ],
      left: 'db3:5432/analytics stays unchanged: PostgreSQL at db3:5432 refused the connection',
      target: {
        database: 'db.example.org:5432/testops, PostgreSQL 15.8',
        'database 2': 'db2:5432/uploads, PostgreSQL 15.8',
        'database 3': 'db3:5432/analytics',
      },
    })
  })
})

test.each([
  ['runs', running(), { wasRunning: true, interrupts: true }],
  ['is stopped', stopped(), { wasRunning: false, interrupts: false }],
  ['has failed for good', stopped({ state: 'failed' }), { wasRunning: false, interrupts: false }],
  [
    'fails and is started again and again',
    stopped({ state: 'failed', startsAgain: true }),
    { wasRunning: true, interrupts: false },
  ],
])('a service that %s is so again should its stop be taken back', async (_, status, expected) => {
  const stuck = lockTable([lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)' })])
  const parts = {
    database: [fakeDatabase({ changelogLocks: [stuck] })] as const,
    service: fakeService({ status }),
    logs: fakeLogs(),
    api: unreachable('api'),
  }
  const { steps } = await unlockChangelog.plan(parts, deployment, { restart: true, schema: null })
  expect(steps[0]).toMatchObject({
    action: { kind: 'stop-service', wasRunning: expected.wasRunning },
    interrupts: expected.interrupts,
  })
})

describe('a further data source', () => {
  const identity = {
    version: '15.8',
    user: 'testops',
    database: 'uploads',
    startedAt: ago(9e6),
    inRecovery: false,
    port: 5432,
    pooled: false,
  }
  const stuck = lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)' })
  const further = (of: Parameters<typeof fakeDatabase>[0]): ReturnType<typeof fakeDatabase> =>
    fakeDatabase({ target: 'db2:5432/uploads', backends: [], ...of })
  const ways: [what: string, database: Parameters<typeof fakeDatabase>[0], said: string][] = [
    [
      'is down',
      { identity: new AdminError('UNREACHABLE', 'PostgreSQL at db2:5432 refused the connection') },
      'UNREACHABLE PostgreSQL at db2:5432 refused the connection',
    ],
    [
      'may not be read',
      { identity, changelogLocks: [lockTable(null)] },
      'FORBIDDEN testops has no permission to read public.databasechangeloglock at db2:5432/uploads',
    ],
    [
      'is a standby with a held row',
      { identity: { ...identity, inRecovery: true }, changelogLocks: [lockTable([stuck])] },
      'REFUSED PostgreSQL at db2:5432/uploads is in recovery and accepts no changes: the server is a standby, ' +
        'or is being restored',
    ],
  ]
  const planOf = async (
    main: ReturnType<typeof fakeDatabase>,
    other: ReturnType<typeof fakeDatabase>,
  ): ReturnType<typeof unlockChangelog.plan> =>
    unlockChangelog.plan(
      {
        database: [main, other],
        service: fakeService({ status: stopped() }),
        logs: fakeLogs(),
        api: unreachable('api'),
      },
      deployment,
      { restart: true, schema: null },
    )

  test.each(ways)('that %s is told, and does not keep the lock of the main one', async (_, of, said) => {
    const main = fakeDatabase({ changelogLocks: [lockTable([stuck])], backends: [] })
    const { steps, notes } = await planOf(main, further(of))
    expect([steps.map(({ action }) => action.kind), notes.at(-1)]).toEqual([
      ['stop-service', 'release-lock', 'start-service'],
      `db2:5432/uploads stays unchanged: ${said.replace(/^\w+ /, '')}`,
    ])
  })

  test.each(ways)('that %s is no deployment in which there is nothing to do', async (_, of, said) => {
    expect(await failureOf(planOf(fakeDatabase(), further(of)))).toBe(
      `${said}; there is nothing to do in the other databases`,
    )
  })

  test('that is a standby with a free row is none that hinders', async () => {
    expect((await planOf(fakeDatabase(), further({ identity: { ...identity, inRecovery: true } }))).steps).toEqual([])
  })

  test('whose lock is unproven too is told of under the one risk', async () => {
    const nobody = { backends: [] }
    const held = (by: string): { changelogLocks: ReturnType<typeof lockTable>[] } => ({
      changelogLocks: [lockTable([lockRow({ locked: true, lockedBy: by })])],
    })
    const { risks } = await planOf(
      fakeDatabase({ ...held('one (10.0.0.7)'), ...nobody }),
      further(held('two (10.0.0.8)')),
    )
    expect(
      risks.map(({ name, message }) => [
        name,
        /names host one, .* cannot see what runs there.* names host two, /.test(message),
      ]),
    ).toEqual([['unproven-holder', true]])
  })
})

/** What is done once the test is over, the last first. */
type AtEnd = (work: () => Promise<void>) => void

async function planned(
  {
    rows = held,
    before = [],
    foreign = [],
    hidden = [],
    after = [],
    around,
    timeZone = 'UTC',
    assumed,
    options,
    sql,
    asks,
  }: Case,
  atEnd: AtEnd,
): Promise<{ verdict: string; told: string }> {
  const fresh = await freshDatabase()
  atEnd(async () => fresh.cleanup())
  const user = fresh.endpoint.user!
  await fresh.query(`CREATE TABLE databasechangeloglock (${columns}); CREATE TABLE done (id int);
    ALTER TABLE databasechangeloglock OWNER TO ${user}; ALTER TABLE done OWNER TO ${user}`)
  const own: ServiceOrigin[] = []
  const ofService = async (statement: string): Promise<void> => {
    const port = await session(fresh.endpoint, statement, atEnd)
    if (statement.includes('of the service'))
      own.push({ instance: 'testops.service', address: '127.0.0.1', port, to: fresh.endpoint.hosts[0]!.port })
  }
  for (const statement of before) await ofService(statement)
  for (const statement of foreign)
    await session(await fresh.role(['GRANT pg_read_all_stats TO {role}']), statement, atEnd)
  for (const statement of hidden) await session(await fresh.role(), statement, atEnd)
  if (foreign.length > 0) await fresh.query(`GRANT pg_read_all_stats TO ${user}`)
  if (rows !== '') await fresh.query(`INSERT INTO databasechangeloglock VALUES ${rows}`)
  for (const statement of after) await ofService(statement)
  if (sql !== undefined) await fresh.query(sql.replaceAll('{user}', user))
  if (before.some((statement) => statement.includes('6 s'))) await new Promise((resolve) => setTimeout(resolve, 5500))
  // clocks are known to a few milliseconds
  await new Promise((resolve) => setTimeout(resolve, 200))
  const database = await opened(asks ? await fresh.role(asks) : fresh.endpoint, atEnd)
  const given: Parts = {
    database,
    service: fakeService(),
    logs: fakeLogs(),
    api: unreachable('api'),
    ...around?.(user),
  }
  const parts: Parts =
    given.service instanceof AdminError ? given : { ...given, service: { ...given.service, origins: async () => own } }
  try {
    const plan = await unlockChangelog.plan(
      parts,
      { ...deployment, timeZone, ...(assumed && { isTimeZoneAssumed: assumed }) },
      { restart: true, schema: null, ...options },
    )
    const changes = plan.steps.map(({ action }) => action.kind).filter((kind) => !kind.endsWith('-service'))
    const [risk] = plan.risks
    const verdict = risk?.name ?? (changes.map((kind) => verdicts[kind]).join(' then ') || 'nothing')
    return {
      verdict,
      told: [...plan.notes, ...plan.risks.flatMap(({ message, proof }) => [message, ...proof])].join('\n'),
    }
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return { verdict: `${error.code} ${error.message}`, told: error.suggestions.join('\n') }
  }
}

const verdicts: Readonly<Record<string, string>> = {
  'release-lock': 'dead',
  'insert-lock-row': 'insert',
  'remove-lock-rows': 'remove',
}

async function opened(endpoint: DatabaseEndpoint, atEnd: AtEnd): Promise<Sources['database']> {
  const { source, close } = await openDatabases([endpoint], { timeoutMs: 5000 })
  atEnd(close)
  return source
}

/** At work on the statement, or in the state that it leaves. */
async function session(
  { hosts, user, password, database }: DatabaseEndpoint,
  statement: string,
  atEnd: AtEnd,
): Promise<number> {
  const application_name = /of (pg_dump|release-tool)/.exec(statement)?.[1] ?? 'PostgreSQL JDBC Driver'
  const client = new pg.Client({ ...hosts[0]!, database, user: user!, password: password!.reveal(), application_name })
  client.on('error', () => undefined)
  await client.connect()
  atEnd(async () => client.end().catch(() => undefined))
  if (!statement.includes('pg_sleep')) {
    // one by one, as a driver sends them
    for (const one of statement.split('; ')) await client.query(one)
    return portOf(client)
  }
  void client.query(statement).catch(() => undefined)
  // the server has begun with it
  await new Promise((resolve) => setTimeout(resolve, 100))
  return portOf(client)
}

/** From which it came. */
function portOf(client: pg.Client): number {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream.localPort!
}
