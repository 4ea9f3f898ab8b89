import {
  ago,
  backend,
  fakeApi,
  fakeLogs,
  fakeService,
  record,
  running,
  settings,
  stopped,
} from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, held, minute, origins, restarted, taken, waiter, waits, written } from './situation.ts'

const pod = 'testops-7d9f8c5b6-q8zkn'
const named = settings({ SPRING_DATASOURCE_USERNAME: 'testops' })
const off = (of: Parameters<typeof fakeService>[0] = {}): ReturnType<typeof fakeService> =>
  fakeService({ status: stopped(), environment: named, ...of })
const inPod = (
  of: Parameters<typeof running>[0] = {},
  more: Parameters<typeof fakeService>[0] = {},
): ReturnType<typeof fakeService> =>
  fakeService({
    status: running({ instances: [{ name: pod, host: pod, pid: null, startedAt: ago(5 * minute) }], ...of }),
    environment: named,
    origins: [{ instance: pod, address: '10.0.0.7', port: null, to: null }],
    ...more,
  })
const migration = (of: Parameters<typeof backend>[0] = {}): ReturnType<typeof backend> =>
  backend({
    pid: 66,
    clientAddress: '10.0.0.9',
    state: 'active',
    query: 'ALTER TABLE test_case ADD COLUMN x text',
    startedAt: new Date(taken.getTime() - 2000),
    queryStartedAt: ago(29 * minute),
    transactionStartedAt: ago(29 * minute),
    ...of,
  })
const ahead = fakeLogs({
  recent: {
    complete: true,
    records: [record('liquibase.lockservice : Waiting for changelog lock....', { at: ago(-180 * minute) })],
  },
})
const took = fakeLogs({
  recent: {
    complete: true,
    records: [record('liquibase.lockservice : Successfully acquired change log lock', { at: taken })],
  },
})
const older = running({
  instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: ago(31 * minute) }],
})
const notDead = { status: 'problem', severity: 'error', silentOn: ['is dead'] } as const
const isDead = { status: 'problem', severity: 'error', says: ['The holder is dead'] } as const
const heldBy = (lockedBy: string | null): ReturnType<typeof held> => held({ lockedBy })

/** Whoever holds the lock is not the service, or not the one that answers. */
export const byHand: readonly Case[] = [
  {
    situation: 'somebody migrates as a user of their own',
    sources: {
      database: database([held()], [migration({ user: 'migrator', application: 'liquibase' })]),
      service: off(),
      ...down,
    },
    ...notDead,
  },
  {
    situation: 'somebody migrates as a user of their own, hidden, by a program of any name',
    sources: {
      database: database(
        [held()],
        [migration({ user: 'migrator', application: 'DBeaver 24', state: null, query: null, startedAt: null })],
      ),
      service: off(),
      ...down,
    },
    ...notDead,
  },
  {
    situation:
      'somebody migrates as a user of their own, by a program of any name, between two statements outside of a ' +
      'transaction',
    sources: {
      database: database(
        [held()],
        [
          migration({
            user: 'migrator',
            application: 'release-tool',
            state: 'idle',
            query: 'COMMIT',
            transactionStartedAt: null,
          }),
        ],
      ),
      service: off(),
      ...down,
    },
    ...notDead,
    says: ['1 session of migrator (PID 66 of release-tool)'],
  },
  {
    situation: 'somebody who may not take the lock has a session that does nothing',
    sources: {
      database: database(
        [held()],
        [
          migration({
            user: 'reader',
            application: 'Metabase',
            state: 'idle',
            query: 'SELECT 1',
            transactionStartedAt: null,
            mayLock: false,
          }),
        ],
      ),
      service: off(),
      ...down,
    },
    ...isDead,
  },
  {
    situation: 'somebody runs the script of update-sql by psql',
    sources: { database: database([held()], [migration({ application: 'psql' })]), service: off(), ...down },
    status: 'ok',
    says: ['and is alive'],
  },
  {
    situation: 'psql of the service’s user is open, and has only looked',
    sources: {
      database: database(
        [held()],
        [
          migration({
            application: 'psql',
            state: 'idle',
            query: 'SELECT * FROM databasechangeloglock',
            transactionStartedAt: null,
          }),
        ],
      ),
      service: off(),
      ...down,
    },
    ...isDead,
  },
  ...[
    'UPDATE databasechangeloglock SET LOCKED = TRUE',
    'ALTER TABLE test_case ADD COLUMN note text',
    'SELECT * INTO old_case FROM test_case',
    'SELECT * FROM databasechangeloglock FOR UPDATE',
    'COMMIT',
  ].flatMap((query) =>
    ['psql', 'pgAdmin 4 - CONN:1'].map(
      (application): Case => ({
        situation: `${application} of the service’s user rests between two statements of a script: ${query}`,
        sources: {
          database: database([held()], [migration({ application, state: 'idle', query, transactionStartedAt: null })]),
          service: off(),
          ...down,
        },
        ...notDead,
        says: ['an open database session may belong to the lock holder'],
      }),
    ),
  ),
  {
    situation:
      'somebody at work, who may take the lock, has a session younger than the lock, as behind a pooler of their own',
    sources: {
      database: database(
        [held({ lockGranted: '2020-01-01 00:00:00' })],
        [migration({ user: 'dba', application: 'release-tool', startedAt: ago(minute) })],
      ),
      service: off(),
      ...down,
    },
    ...notDead,
    says: ['session of dba (PID '],
  },
  {
    situation: 'the machine is known, and no instance bears its name',
    sources: {
      database: database([heldBy('docker-1 (10.0.0.2)')]),
      service: inPod(
        {},
        { machines: [{ ...{ name: 'docker-1', architecture: 'x64', processors: [], problem: null } } as never] },
      ),
      ...down,
    },
    ...notDead,
  },
  {
    situation: 'its pods crash again and again, and one runs now and migrates',
    sources: {
      database: database([heldBy(null)], [migration({ clientAddress: '10.0.0.7' })]),
      service: inPod({ state: 'failed', detail: 'CrashLoopBackOff' }),
      ...down,
    },
    ...notDead,
    status: 'problem',
  },
  {
    situation: 'the container was started again in place, and its killed process left a statement',
    sources: {
      database: database([held({ lockedBy: `${pod} (10.0.0.7)` })], [migration({ clientAddress: '10.0.0.7' })]),
      service: inPod(),
      ...down,
    },
    status: 'ok',
    says: ['and is alive'],
  },
  {
    situation: 'the log lies in the future, so that its times are of another zone',
    sources: {
      database: database(
        [held()],
        [backend({ state: 'idle in transaction', query: 'SHOW SEARCH_PATH', startedAt: ago(30 * minute) })],
      ),
      service: fakeService({ status: older, environment: named, origins }),
      logs: ahead,
      ...down,
    },
    status: 'ok',
    says: ['and is alive'],
  },
  {
    situation: 'the service waits for the lock of its predecessor, and its clock is wrong',
    sources: {
      database: database([held()], [waiter]),
      service: restarted,
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [record('liquibase.lockservice : Waiting for changelog lock....', { at: ago(-10 * minute) })],
        },
      }),
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive: it is unclear whether testops-1 took the lock before or after ' +
        'its last start',
      "ahead of the database's clock",
      "Correct the clock of the service's machine. Release the lock only after the process that holds it has ended.",
      'sudo timedatectl set-ntp true   # on testops-1',
    ],
  },
  {
    situation: 'the service waits for the lock of its predecessor, and its log is of another time zone',
    sources: {
      database: database([held()], [waiter]),
      service: restarted,
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [
            record('liquibase.lockservice : Waiting for changelog lock....', { at: ago(-180 * minute + 2000) }),
          ],
        },
      }),
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive: it is unclear whether testops-1 took the lock before or after ' +
        'its last start',
      "Set `timeZone` in the configuration to the time zone of the service's JVM.",
    ],
    silentOn: ['timedatectl', 'ahead of'],
  },
  {
    situation: 'the lock was taken only just now, and the log cannot show yet whether the service waits for it',
    // made when it is judged: seconds matter
    get sources() {
      return {
        database: database([held({ lockGranted: written(ago(3000)) })], [{ ...waiter, startedAt: ago(900) }]),
        service: fakeService({
          status: running({
            instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(2900) }],
          }),
          origins,
        }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('liquibase.lockservice : Waiting for changelog lock....', { at: ago(800) })],
          },
        }),
        ...down,
      }
    },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive',
      "The lock is so new that the service's log does not show yet whether the holder is alive. The repair waits",
      'testops-admin unlock-changelog -d ',
    ],
    silentOn: ['timeZone'],
  },
  {
    situation: 'something else answers, and the only instance has been at work since',
    sources: {
      database: database([held()], [migration({ clientAddress: '10.0.0.7' })]),
      service: fakeService({ status: older, environment: named, origins }),
      logs: took,
      api: fakeApi(),
    },
    status: 'problem',
    severity: 'warning',
    silentOn: ['is dead'],
  },
  {
    situation: 'its clock is ahead, so that it was started later than now',
    sources: {
      database: database([held()], [backend({ state: 'idle in transaction', query: 'SHOW SEARCH_PATH' })]),
      service: fakeService({
        status: running({
          instances: [{ name: 'testops.service', host: 'testops-1', pid: 9, startedAt: ago(-5 * minute) }],
        }),
        environment: named,
        origins,
      }),
      ...down,
    },
    ...notDead,
  },
  ...[
    'jdbc:postgresql://db.example.org:5432,pgbouncer:6432/testops',
    'jdbc:aws-wrapper:postgresql://rds-proxy.example.org:5432/testops',
  ].map(
    (url): Case => ({
      situation: `its settings lead to ${url}`,
      sources: {
        database: database([held()]),
        service: off({ environment: settings({ SPRING_DATASOURCE_USERNAME: 'testops', SPRING_DATASOURCE_URL: url }) }),
        ...down,
      },
      ...notDead,
      says: ['may be a pooler'],
    }),
  ),
  {
    situation: 'its container has ended',
    sources: { database: database([heldBy('1a79b513f312 (172.26.0.10)')]), service: off({ hasEnded: true }), ...down },
    ...isDead,
    says: ['The holder is dead: the process that took the lock has ended: nothing runs in 1a79b513f312 any more'],
  },
  {
    situation: 'its pod is gone, and another one waits',
    sources: {
      database: database(
        [heldBy('testops-7d9f8c5b6-zzzzz (10.42.0.9)')],
        [backend({ state: 'idle in transaction', query: 'SHOW SEARCH_PATH', startedAt: ago(4 * minute) })],
      ),
      service: inPod({}, { hasEnded: true }),
      logs: waits,
      ...down,
    },
    ...isDead,
  },
  {
    situation: 'its pod is gone, and a session is open that nobody is known to have',
    sources: {
      database: database([heldBy('testops-7d9f8c5b6-zzzzz (10.42.0.9)')], [migration({ state: 'idle' })]),
      service: off({ hasEnded: true }),
      ...down,
    },
    ...notDead,
  },
]
