import { AdminError } from '../../../../src/core/error.ts'
import { ago, backend, fakeApi, fakeService, running, settings, unreachable } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import {
  database,
  dead,
  down,
  elsewhere,
  held,
  migrating,
  minute,
  restarted,
  waiter,
  waits,
  worker,
  written,
} from './situation.ts'

/** Its holder is dead, or nothing shows that it lives. */
export const stuck: readonly Case[] = [
  {
    situation: 'the service was started again and waits for the lock of its dead predecessor',
    sources: { database: database([held()], [waiter]), service: restarted, logs: waits, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'testops-1 (10.0.0.7) holds the change-log lock since',
      'its holder is dead: the service itself waits for it, and no other instance runs',
      "every open database session belongs to the service's instance, which does not hold the lock",
      'the service waits for it and cannot start',
      'psql -h db.example.org -p 5432 -U testops -d testops -c',
      '1 | t | ',
      'systemctl status testops',
      'Waiting for changelog lock....',
      'Release the lock. This can be undone.',
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
      database: database(
        [held()],
        [backend({ startedAt: ago(9 * minute), state: 'active', query: 'SELECT 1', queryStartedAt: ago(-minute) })],
      ),
      service: restarted,
    },
    status: 'problem',
    severity: 'warning',
    says: ['its holder is dead', 'cannot get past its next migration'],
  },
  {
    situation: 'PostgreSQL was restarted after the lock was taken, by a time zone that may be another',
    sources: {
      database: database([held()], [], {
        identity: {
          version: '15.8',
          user: 'testops',
          database: 'testops',
          startedAt: ago(5 * minute),
          inRecovery: false,
          port: 5432,
          pooled: false,
        },
      }),
      service: migrating,
      ...down,
    },
    status: 'ok',
    says: ['is alive: testops.service on testops-1'],
    silentOn: ['PostgreSQL has been restarted'],
  },
  {
    situation: 'PostgreSQL was restarted, and the lock was taken where another time zone may rule',
    sources: {
      database: database([held({ lockedBy: 'laptop (10.0.0.9)' })], [], {
        identity: {
          version: '15.8',
          user: 'testops',
          database: 'testops',
          startedAt: ago(5 * minute),
          inRecovery: false,
          port: 5432,
          pooled: false,
        },
      }),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['cannot tell whether its holder is alive'],
    silentOn: ['PostgreSQL has been restarted'],
  },
  {
    situation: 'PostgreSQL was restarted a day after the lock was taken, wherever that was',
    sources: {
      database: database([held({ lockedBy: 'laptop (10.0.0.9)', lockGranted: written(ago(1440 * minute)) })], [], {
        identity: {
          version: '15.8',
          user: 'testops',
          database: 'testops',
          startedAt: ago(5 * minute),
          inRecovery: false,
          port: 5432,
          pooled: false,
        },
      }),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['its holder is dead: PostgreSQL was restarted later'],
  },
  {
    situation: 'whoever is at work by Java as another user may have taken it',
    sources: {
      database: database([held()], [{ ...worker, user: 'dba' }]),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
        environment: settings({
          SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops',
          SPRING_DATASOURCE_USERNAME: 'testops',
        }),
      }),
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      "cannot tell whether its holder is alive: dba has a session open (66 of PostgreSQL JDBC Driver) and may have taken the lock, although it is not the service's user",
    ],
  },
  {
    situation: 'the database is asked as another user than the service, who sees the same by the same commands',
    sources: {
      database: database([held()], [], {
        identity: {
          version: '15.8',
          user: 'reader',
          database: 'testops',
          startedAt: ago(90 * minute),
          inRecovery: false,
          port: 5432,
          pooled: false,
        },
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
    situation: 'whoever took it is on a host that the platform does not see',
    sources: { database: database([held({ lockedBy: 'testops-5d9c-x2 (10.0.0.9)' })]), service: restarted, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'cannot tell whether its holder is alive',
      'testops-5d9c-x2 is not an instance of the service (testops-1)',
      "no open database session can be the holder's",
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
    says: ['1a79b513f312 was restarted at'],
  },
  {
    situation: 'sessions of others may not be seen, and the service was started again',
    sources: {
      database: database([held()], [], { backends: new AdminError('FORBIDDEN', 'no') }),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'cannot tell whether its holder is alive: this user may not see other database sessions',
      'the process that took it is gone: testops-1 was restarted at',
      '(this user may not see all sessions)',
    ],
  },
  {
    situation: 'the platform cannot be asked, and no session is left',
    sources: { database: database([held()]), service: unreachable('service'), ...down },
    status: 'problem',
    severity: 'error',
    says: [
      "cannot tell whether its holder is alive: the platform does not show the service's instances; cannot tell which address the service uses for this database (the service's settings cannot be read): a pooler in between may share sessions; no open database session can be the holder's",
    ],
  },
  {
    situation: 'nothing shows whether the holder is alive',
    sources: {
      database: database(
        [held({ lockedBy: 'laptop (10.0.0.9)' })],
        [backend({ ...elsewhere, startedAt: ago(40 * minute) })],
      ),
      service: restarted,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'cannot tell whether its holder is alive',
      "an open session may be the holder's: database session 4711 (idle for ",
      'Make sure that no service and no Liquibase runs there. Find out whose sessions these are, and wait until they have ended. Release the lock only after its holder has ended.',
      'ps -fC java   # on laptop',
      'WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start',
    ],
  },
]
