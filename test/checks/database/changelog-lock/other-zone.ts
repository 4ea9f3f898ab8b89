import type { DatabaseBackend } from '../../../../src/core/sources.ts'
import { AdminError } from '../../../../src/core/error.ts'
import { ago, backend, fakeService, running, settings, stopped } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, dead, down, elsewhere, held, minute, origins, written } from './situation.ts'

const hour = 60 * minute
/** by the service's settings; half a minute ago where the JVM was told New York's */
const fiveHoursAgo = held({ lockGranted: written(ago(5 * hour)) })
const assumed = { timeZone: 'UTC', isTimeZoneAssumed: true } as const
const restartedDatabase = {
  identity: {
    version: '15.8',
    user: 'testops',
    database: 'testops',
    startedAt: ago(7 * minute),
    inRecovery: false,
    port: 5432,
    pooled: false,
  },
}
const environment = settings({
  SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops',
  SPRING_DATASOURCE_USERNAME: 'testops',
})
const restarted = fakeService({
  status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(6 * minute) }] }),
  environment,
  origins,
})
const off = fakeService({ status: { state: 'stopped', detail: 'inactive (dead)', instances: [] }, environment })

/** Not the service's own, and younger than the lock by the settings' time zone. */
const young = (of: Partial<DatabaseBackend> = {}): DatabaseBackend =>
  backend({
    pid: 88,
    ...elsewhere,
    startedAt: ago(minute),
    state: 'active',
    query: 'SELECT pg_sleep(25)',
    queryStartedAt: ago(3000),
    ...of,
  })

const isOpen =
  'Cannot tell whether the holder is alive: an open database session may belong to the lock holder: database ' +
  'session 88 ('
const unproven = {
  status: 'problem',
  severity: 'warning',
  says: [isOpen],
  silentOn: ['is dead', 'no open database session'],
} as const
const isDead = (why: string): Pick<Case, 'status' | 'severity' | 'says'> => ({
  status: 'problem',
  severity: 'warning',
  says: [`The holder is dead: ${why}`],
})

/**
 * The settings name a time zone, or the configuration does, and the JVM that took the lock may have been told another
 * on its command line.
 */
export const otherZone: readonly Case[] = [
  ...[assumed, { timeZone: 'UTC' }, { timeZone: null }].flatMap((deployment): Case[] =>
    (['active', 'idle in transaction', 'idle', 'disabled'] as const).flatMap((state): Case[] => [
      {
        situation:
          `PostgreSQL was restarted since by ${JSON.stringify(deployment)}, and a session is ${state} beside the ` +
          'service',
        sources: { database: database([fiveHoursAgo], [young({ state })], restartedDatabase), service: restarted },
        deployment,
        ...unproven,
      },
      {
        situation:
          `PostgreSQL was restarted since by ${JSON.stringify(deployment)}, and a session of the stopped service ` +
          `is ${state}`,
        sources: { database: database([fiveHoursAgo], [young({ state })], restartedDatabase), service: off, ...down },
        deployment,
        ...unproven,
        severity: 'error',
      },
      {
        situation:
          `the service was started again since by ${JSON.stringify(deployment)}, and a session is ${state} ` +
          'beside it',
        sources: { database: database([fiveHoursAgo], [young({ state })]), service: restarted },
        deployment,
        ...unproven,
      },
    ]),
  ),
  {
    situation: "PostgreSQL was restarted since by the settings, and another user's Java has a session",
    sources: {
      database: database([fiveHoursAgo], [young({ user: 'dba', state: 'idle in transaction' })], restartedDatabase),
      service: restarted,
    },
    deployment: assumed,
    ...unproven,
    says: [
      'Cannot tell whether the holder is alive: 1 session of dba (PID 88 of PostgreSQL JDBC Driver) may hold the lock',
    ],
  },
  {
    situation: 'PostgreSQL was restarted since by the settings, and who may be at work may not be seen',
    sources: {
      database: database([fiveHoursAgo], [], { ...restartedDatabase, backends: new AdminError('FORBIDDEN', 'no') }),
      service: restarted,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: ['Cannot tell whether the holder is alive: this database user has no permission to see other sessions'],
    silentOn: ['is dead'],
  },
  {
    situation: 'the same, and one of another user hides what it does',
    sources: {
      database: database(
        [fiveHoursAgo],
        [young({ user: 'dba', state: null, query: null, startedAt: null, queryStartedAt: null })],
        restartedDatabase,
      ),
      service: restarted,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: [
      'Cannot tell whether the holder is alive: this database user has no permission to see the activity and age ' +
        'of 1 session of dba',
    ],
    silentOn: ['is dead'],
  },
  {
    situation: 'the service is stopped, and no session is there',
    sources: { database: database([fiveHoursAgo], [], restartedDatabase), service: dead, ...down },
    deployment: assumed,
    ...isDead('no instance of the service is running'),
    severity: 'error',
  },
  {
    situation: 'the service was started again since, and no session is there',
    sources: { database: database([fiveHoursAgo], []), service: restarted },
    deployment: assumed,
    ...isDead('the process that took the lock has ended'),
  },
  {
    situation:
      'the service was started again since by a time zone that may be another, and has a session: it may hold ' +
      'the lock itself',
    sources: {
      database: database([fiveHoursAgo], [young({ clientAddress: '10.0.0.7', state: 'idle in transaction' })]),
      service: restarted,
      ...down,
    },
    deployment: { timeZone: 'UTC' },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive: it is unclear whether testops-1 took the lock before or after ' +
        'its last start',
    ],
    silentOn: ['is dead'],
  },
  {
    situation: 'the lock is so old that PostgreSQL was restarted since wherever it was taken',
    sources: {
      database: database(
        [held({ lockGranted: written(ago(24 * hour)) })],
        [{ ...young(), state: 'idle' }],
        restartedDatabase,
      ),
      service: restarted,
    },
    deployment: assumed,
    ...isDead('PostgreSQL was restarted at'),
  },
  {
    situation: 'the same, and sessions may not be seen',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [], {
        ...restartedDatabase,
        backends: new AdminError('FORBIDDEN', 'no'),
      }),
      service: restarted,
    },
    deployment: assumed,
    ...unproven,
    says: ['this database user has no permission to see other sessions'],
  },
  {
    situation: 'the same, and a user of their own is at work',
    sources: {
      database: database(
        [held({ lockGranted: written(ago(24 * hour)) })],
        [young({ user: 'dba', application: 'release-tool' })],
        restartedDatabase,
      ),
      service: restarted,
    },
    deployment: assumed,
    ...unproven,
    says: ['1 session of dba (PID 88 of release-tool)'],
  },
  {
    situation: 'the same, and the instance that took it runs on, at a step in Java',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [], restartedDatabase),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(60 * hour) }] }),
        environment,
        origins,
      }),
      ...down,
    },
    deployment: assumed,
    ...unproven,
    severity: 'error',
    says: [
      'has been running since before the lock was taken. PostgreSQL was restarted later, which ended the ' +
        "instance's sessions, but not its process",
    ],
  },
  {
    situation: 'the same, and somebody is at work, who may run a script that writes the time at which it was made',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [young()], restartedDatabase),
      service: restarted,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: ['Cannot tell whether the holder is alive: an open database session may belong to the lock holder'],
    silentOn: ['is dead'],
  },
  {
    situation: 'the same, behind a pooler that has kept its clients over the restart',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [], {
        identity: { ...restartedDatabase.identity, pooled: true },
      }),
      service: off,
      ...down,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'error',
    says: ['Cannot tell whether the holder is alive: a pooler'],
    silentOn: ['is dead'],
  },
  {
    situation: 'the same, on a standby, which has a start of its own',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [], {
        identity: { ...restartedDatabase.identity, inRecovery: true },
      }),
      service: off,
      ...down,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'error',
    says: ['Cannot tell whether the holder is alive: this PostgreSQL server is a standby'],
    silentOn: ['is dead'],
  },
  {
    situation:
      'the lock is older than the session of whoever is at work, wherever it was taken: a pooler that nobody ' +
      'knows of may have lent it out',
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })], [young()], {
        identity: { ...restartedDatabase.identity, startedAt: ago(48 * hour) },
      }),
      service: restarted,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: ['Cannot tell whether the holder is alive: an open database session may belong to the lock holder'],
    silentOn: ['is dead'],
  },
  {
    situation: 'a pooler stands before the database, and no session is seen',
    sources: {
      database: database([fiveHoursAgo], [], { identity: { ...restartedDatabase.identity, pooled: true } }),
      service: off,
      ...down,
    },
    deployment: { timeZone: 'UTC' },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive: a pooler (PgBouncer or the like) in front of the database ' +
        'shares its database sessions',
    ],
    silentOn: ['is dead'],
  },
  {
    situation: 'the service reaches the database by another port, where a pooler may be',
    sources: {
      database: database([fiveHoursAgo], []),
      service: fakeService({
        status: stopped(),
        environment: settings({
          SPRING_DATASOURCE_URL: 'jdbc:postgresql://db:6432/testops',
          SPRING_DATASOURCE_USERNAME: 'testops',
        }),
      }),
      ...down,
    },
    deployment: { timeZone: 'UTC' },
    status: 'problem',
    severity: 'error',
    says: ["the server at db:6432 \(in the service's settings\) may be a pooler that shares its database sessions"],
    silentOn: ['is dead'],
  },
  {
    situation: 'the lock names an address alone',
    sources: { database: database([held({ lockedBy: '172.17.0.1 (172.17.0.1)' })], []), service: off, ...down },
    deployment: { timeZone: 'UTC' },
    status: 'problem',
    severity: 'error',
    says: [
      'Cannot tell whether the holder is alive: the lock names only the address 172.17.0.1, and every Docker host ' +
        'uses the same addresses for its bridges and containers. Cannot tell which process took the lock',
    ],
    silentOn: ['is dead'],
  },
]
