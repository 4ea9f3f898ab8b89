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
      'testops-1 (10.0.0.7) has held the change-log lock since',
      'The holder is dead: the service itself is waiting for the lock, and no other instance is running',
      "every open database session belongs to the service's instance, which does not hold the lock",
      'The service waits for the lock and cannot start',
      'psql -h db.example.org -p 5432 -U testops -d testops -c',
      '1 | t | ',
      'systemctl status testops',
      'Waiting for changelog lock....',
      'Release the lock. This can be undone.',
      'testops-admin unlock-changelog -d prod',
      'testops-admin explain database/changelog-lock   # shows the steps to take by hand',
    ],
  },
  {
    situation: 'the service has given up waiting',
    sources: { database: database([held()]), service: dead, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'no instance of the service is running',
      'If a database change is pending, the service cannot start until the lock is released',
    ],
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
    says: ['The holder is dead', 'its next migration cannot start'],
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
    silentOn: ['PostgreSQL was restarted'],
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
    says: ['Cannot tell whether the holder is alive'],
    silentOn: ['PostgreSQL was restarted'],
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
    says: ['The holder is dead: PostgreSQL was restarted at'],
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
      'Cannot tell whether the holder is alive: 1 session of dba (PID 66 of PostgreSQL JDBC Driver) may hold ' +
        'the lock, although the service uses another database user',
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
      'Cannot tell whether the holder is alive',
      'testops-5d9c-x2, the host named in the lock, is not an instance of the service (instances: testops-1)',
      'no open database session can belong to the lock holder',
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
    says: ['1a79b513f312 was restarted later, at'],
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
      'Cannot tell whether the holder is alive: this database user has no permission to see other sessions',
      'the process that took the lock has ended: testops-1 was restarted later, at',
      '(this database user has no permission to see all sessions)',
    ],
  },
  {
    situation: 'the platform cannot be asked, and no session is left',
    sources: { database: database([held()]), service: unreachable('service'), ...down },
    status: 'problem',
    severity: 'error',
    says: [
      "Cannot tell whether the holder is alive: the platform does not show the service's instances; cannot " +
        "tell how the service connects to this database (the service's settings cannot be read). There may be a " +
        'pooler in between, which shares sessions between clients; no open database session can belong to the lock ' +
        'holder',
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
      'Cannot tell whether the holder is alive',
      'an open database session may belong to the lock holder: database session 4711 (idle for ',
      "Make sure that neither the service nor Liquibase is running on the lock holder's machine. Find out which " +
        'clients hold the open database sessions, and wait until these sessions have ended. Release the lock only ' +
        'after the process that holds it has ended.',
      'ps -fC java   # on laptop',
      'WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start',
    ],
  },
]
