import { changelogLockCheck } from '../../../src/checks/database/changelog-lock.ts'
import type { Case, CheckTable } from '../table.ts'
import type { ChangelogLockTable, DatabaseBackend, DatabaseSource, Sources } from '../../../src/core/sources.ts'
import { AdminError } from '../../../src/core/error.ts'
import {
  fakeApi,
  ago,
  backend,
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

const minute = 60_000

/** As Liquibase writes it: local time of the JVM, so many hours from UTC. */
function written(at: Date, offsetHours = 0): string {
  return new Date(at.getTime() + offsetHours * 3_600_000).toISOString().slice(0, 23).replace('T', ' ')
}

const taken = ago(30 * minute)
const held = (of = {}): ChangelogLockTable =>
  lockTable([lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)', lockGranted: written(taken), ...of })])

function database(
  tables: readonly ChangelogLockTable[],
  backends: readonly DatabaseBackend[] = [],
  more: Parameters<typeof fakeDatabase>[0] = {},
): readonly [DatabaseSource] {
  return [fakeDatabase({ changelogLocks: tables, backends: { complete: true, backends }, ...more })]
}

const restarted = fakeService({
  status: running({ instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(10 * minute) }] }),
})
const migrating = fakeService({
  status: running({ instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: ago(31 * minute) }] }),
})
const dead = fakeService({ status: stopped({ state: 'failed', detail: 'failed (Result: exit-code)' }) })
const down = { api: unreachable('api') }
const waiter = backend({ pid: 77, state: 'idle in transaction', query: 'SHOW SEARCH_PATH', startedAt: ago(9 * minute) })
const worker = backend({
  pid: 66,
  state: 'active',
  query: "UPDATE test_case SET name = 'secret'",
  startedAt: ago(30 * minute + 2000),
  transactionStartedAt: ago(29 * minute),
  queryStartedAt: ago(29 * minute),
})
const waits = fakeLogs({
  recent: {
    complete: true,
    records: [record('INFO liquibase.lockservice : Waiting for changelog lock....', { at: ago(minute) })],
  },
})

const stuck: Case[] = [
  {
    situation: 'the service was started again and waits for the lock of its dead predecessor',
    sources: { database: database([held()], [waiter]), service: restarted, logs: waits, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'testops-1 (10.0.0.7) holds the change-log lock since',
      'its holder is dead: the process that took it is gone: testops-1 was started again at',
      'no database session that is as old as the lock is left',
      'the service waits for it and cannot start',
      'psql -h db.example.org -p 5432 -U testops -d testops -c',
      '1 | t | ',
      'systemctl status testops',
      'Waiting for changelog lock....',
      'Release the lock: it is given back only when',
      'testops-admin unlock-changelog -d prod',
      'testops-admin explain database/changelog-lock   # the same by hand',
    ],
  },
  {
    situation: 'the service has given up waiting',
    sources: { database: database([held()]), service: dead, ...down },
    status: 'problem',
    severity: 'error',
    says: ['no instance of the service runs', 'with a change pending, the service cannot start until it is released'],
  },
  {
    situation: 'the service is healthy, since no change is pending',
    sources: {
      database: database([held()], [backend({ startedAt: ago(9 * minute), state: 'active', query: 'SELECT 1' })]),
      service: restarted,
    },
    status: 'problem',
    severity: 'warning',
    says: ['its holder is dead', 'will not get past its next migration'],
  },
  {
    situation: 'PostgreSQL was restarted after the lock was taken',
    sources: {
      database: database([held({ lockedBy: 'elsewhere (10.0.0.9)' })], [], {
        identity: { version: '15.8', user: 'testops', database: 'testops', startedAt: ago(5 * minute), inRecovery: false },
      }),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['PostgreSQL has been restarted since'],
  },
  {
    situation: 'the database is asked as another user than the service, who sees the same by the same commands',
    sources: {
      database: database([held()], [], {
        identity: { version: '15.8', user: 'reader', database: 'testops', startedAt: ago(90 * minute), inRecovery: false },
      }),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['-U reader -d testops -c \\"SELECT pid', "-U reader -d testops -c 'SELECT pg_postmaster_start_time()'"],
  },
  {
    situation: "something else answers at the service's address",
    sources: {
      database: database([held()]),
      service: dead,
      api: fakeApi({ health: { httpStatus: 200, status: null, durationMs: 5 } }),
    },
    status: 'problem',
    severity: 'error',
  },
  {
    situation: 'the pod that took it is gone',
    sources: { database: database([held({ lockedBy: 'testops-5d9c-x2 (10.0.0.9)' })]), service: restarted, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      "testops-5d9c-x2 is none of the service's instances (testops-1)",
      'no database session that is as old as the lock is left',
    ],
  },
  {
    situation: 'the container was started again; its id is cut to twelve characters in lockedby',
    sources: {
      database: database([held({ lockedBy: '1a79b513f312 (172.26.0.10)' })]),
      service: fakeService({
        status: running({
          instances: [{ name: 'testops', host: `1a79b513f312${'0'.repeat(52)}`, pid: null, startedAt: ago(minute) }],
        }),
      }),
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['1a79b513f312 was started again at'],
  },
  {
    situation: 'sessions of others may not be seen, and the service was started again',
    sources: { database: database([held()], [], { backends: new AdminError('FORBIDDEN', 'no') }), service: restarted, ...down },
    status: 'problem',
    severity: 'error',
    says: ['its holder is dead', '(not all sessions may be seen)'],
  },
  {
    situation: 'the platform cannot be asked, and no session is left',
    sources: { database: database([held()]), service: unreachable('service'), ...down },
    status: 'problem',
    severity: 'error',
    says: ['its holder is dead: no database session that is as old as the lock is left'],
  },
  {
    situation: 'nothing shows whether the holder lives',
    sources: {
      database: database([held({ lockedBy: 'laptop (10.0.0.9)' })], [backend({ startedAt: ago(40 * minute) })]),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'whether its holder lives is not shown',
      'a database session as old as the lock is still open',
      'See to it that its holder has ended, then release the lock',
    ],
  },
  {
    situation: 'the JVM lives nine hours ahead, and its zone is known',
    sources: { database: database([held({ lockGranted: written(taken, 9) })]), service: restarted, ...down },
    deployment: { timeZone: 'Asia/Tokyo' },
    status: 'problem',
    severity: 'error',
    says: [/Asia\/Tokyo \(30 min( \d+ s)? ago\)/, 'its holder is dead'],
  },
  {
    situation: 'the JVM lives nine hours ahead, and nobody says so',
    sources: {
      database: database([held({ lockGranted: written(taken, 9) })], [waiter]),
      service: restarted,
      logs: waits,
      ...down,
    },
    deployment: { timeZone: null },
    status: 'problem',
    severity: 'error',
    says: ['its time zone is not known', 'the service itself waits for it'],
  },
  {
    situation: 'the zone is said in the service’s settings alone',
    sources: {
      database: database([held({ lockGranted: written(taken, 9) })]),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
        environment: settings({ TZ: 'Asia/Tokyo' }),
      }),
      ...down,
    },
    deployment: { timeZone: null },
    status: 'problem',
    severity: 'error',
    says: [/Asia\/Tokyo \(30 min( \d+ s)? ago\)/],
  },
]

const inTwoZones = (own: string, configured: string): Omit<Case, 'situation' | 'status'> => ({
  sources: {
    database: database([held({ lockGranted: written(taken, 9) })]),
    service: fakeService({
      status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
      environment: settings({ TZ: own }),
    }),
    ...down,
  },
  deployment: { timeZone: configured },
})

const zones: Case[] = [
  {
    situation: "the configuration and the service's settings name zones that differ",
    ...inTwoZones('Asia/Yekaterinburg', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    says: [
      /Asia\/Tokyo \(30 min( \d+ s)? ago\)/,
      'grep TZ /etc/testops/testops.env',
      'TZ=Asia/Yekaterinburg',
      /the configuration's timeZone is Asia\/Tokyo, and counts: lockgranted is \S+ \S+Z by it, \S+ \S+Z by Asia\/Yekaterinburg/,
    ],
  },
  {
    situation: 'they name two zones of one time',
    ...inTwoZones(':Asia/Seoul', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    silentOn: ['and counts', 'TZ='],
  },
  {
    situation: 'the zone of the settings is none',
    ...inTwoZones('Japan Time', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    silentOn: ['and counts'],
  },
]

const live: Case[] = [
  {
    situation: 'the service migrates, and a session is at work',
    sources: { database: database([held()], [worker]), service: migrating, ...down },
    status: 'ok',
    says: [
      'a migration of the database is under way',
      /database session 66 \(active for 29 min( \d+ s)?: UPDATE test_case SET name = /,
      "'…'",
    ],
    silentOn: ['secret'],
  },
  {
    situation: 'the service migrates, between two statements',
    sources: { database: database([held()], [{ ...worker, state: 'idle' }]), service: migrating, ...down },
    status: 'ok',
    says: ['testops.service on testops-1 (process 812)'],
  },
  {
    situation: 'another process of the same machine migrates while the service waits',
    sources: { database: database([held()], [worker, waiter]), service: restarted, logs: waits, ...down },
    status: 'ok',
    says: ['under way', 'database session 66'],
  },
  {
    situation: 'the JVM lives in another time zone',
    sources: { database: database([held({ lockGranted: written(taken, 9) })], [worker]), service: migrating, ...down },
    deployment: { timeZone: 'Asia/Tokyo' },
    status: 'ok',
    says: [/\(30 min( \d+ s)? ago\)/],
  },
  {
    situation: 'the service is dead, and its last statement still runs',
    sources: { database: database([held()], [worker]), service: dead, ...down },
    status: 'ok',
    says: ['lives: database session 66'],
    silentOn: ['under way'],
  },
]

const halfCleared: Case[] = [
  {
    situation: 'locked without a time, and the service cannot start',
    sources: { database: database([held({ lockGranted: null })], [waiter]), service: restarted, logs: waits, ...down },
    status: 'problem',
    severity: 'error',
    says: ['public.databasechangeloglock is half cleared: locked, without lockgranted'],
  },
  {
    situation: 'locked without a time, and the service is healthy',
    sources: { database: database([held({ lockGranted: null })]), service: restarted },
    status: 'problem',
    severity: 'warning',
    says: ['half cleared'],
  },
  {
    situation: 'no row with id 1',
    sources: { database: database([lockTable([])]) },
    status: 'problem',
    severity: 'warning',
    says: ['public.databasechangeloglock has no row with id 1', '(0 rows)', 'Leave the table as Liquibase expects it'],
  },
  {
    situation: 'no row with id 1 but another, and the service cannot start',
    sources: { database: database([lockTable([lockRow({ id: 2 })])]), ...down },
    status: 'problem',
    severity: 'error',
    says: ['has no row with id 1', 'id 2'],
  },
  {
    situation: 'a second row',
    sources: { database: database([lockTable([lockRow(), lockRow({ id: 2, locked: true, lockedBy: 'x' })])]), ...down },
    status: 'problem',
    severity: 'warning',
    says: ['more rows than the one with id 1 (id 2)', '2 | t | null | x'],
  },
  {
    situation: 'the table lies where the service does not look',
    sources: { database: database([lockTable([lockRow()], { schema: 'attic', inSearchPath: false })]), ...down },
    status: 'problem',
    severity: 'error',
    says: ['lies in schema attic'],
  },
  {
    situation: 'a second table elsewhere holds a dead lock',
    sources: {
      database: database([lockTable([lockRow()]), lockTable(held().rows, { schema: 'attic', inSearchPath: false })]),
      service: restarted,
    },
    status: 'problem',
    severity: 'warning',
    says: ['attic.databasechangeloglock (held by testops-1 (10.0.0.7))', 'The service never looks at that lock'],
  },
]

const fine: Case[] = [
  { situation: 'the lock is free', status: 'ok', says: ['public.databasechangeloglock at db.example.org:5432/testops is free'] },
  {
    situation: 'another program has a table of its own elsewhere',
    sources: { database: database([lockTable([lockRow()]), lockTable([lockRow()], { schema: 'other', inSearchPath: false })]) },
    status: 'ok',
  },
  {
    situation: 'there is no table',
    sources: { database: database([]) },
    status: 'skipped',
    says: ['has no table databasechangeloglock'],
  },
]

const unreadable: Case[] = [
  {
    situation: 'the table may not be read',
    sources: { database: database([lockTable(null)]) },
    status: 'unknown',
    code: 'FORBIDDEN',
    says: ['GRANT SELECT ON public.databasechangeloglock TO \\"testops\\"'],
  },
  {
    situation: 'the second of two databases holds a stuck lock, the first cannot be asked',
    sources: {
      database: [
        fakeDatabase({ changelogLocks: new AdminError('UNREACHABLE', 'gone') }),
        ...database([held()]),
      ] as Sources['database'],
      service: dead,
      ...down,
    },
    status: 'problem',
    severity: 'error',
  },
  {
    situation: 'the database is down',
    sources: { database: unreachable('database') },
    status: 'unknown',
    because: 'database/reachable',
  },
]

export const changelogLockTable: CheckTable = {
  check: changelogLockCheck,
  cases: [...fine, ...stuck, ...zones, ...live, ...halfCleared, ...unreadable],
}
