import type { Case } from '../../table.ts'
import { ago } from '../../../fakes/index.ts'
import {
  database,
  dead,
  down,
  elsewhere,
  hasTaken,
  held,
  migrating,
  minute,
  restarted,
  taken,
  waiter,
  waits,
  worker,
  written,
} from './situation.ts'

/** Its holder lives. */
export const live: readonly Case[] = [
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
    sources: {
      database: database([held()], [{ ...worker, ...elsewhere }, waiter]),
      service: restarted,
      logs: waits,
      ...down,
    },
    status: 'ok',
    says: ['under way', 'database session 66'],
  },
  {
    situation: 'the service has waited for the lock, and has got it',
    sources: {
      database: database(
        [held()],
        [{ ...worker, startedAt: ago(31 * minute), state: 'idle in transaction', queryStartedAt: ago(50) }],
      ),
      service: migrating,
      logs: hasTaken,
      ...down,
    },
    status: 'ok',
    says: ['under way', 'database session 66'],
  },
  {
    situation: 'the service waited when its log was read, and has got the lock since',
    sources: {
      database: database(
        [held({ lockGranted: written(ago(1000)) })],
        [{ ...worker, state: 'idle in transaction', queryStartedAt: ago(50) }],
      ),
      service: migrating,
      logs: waits,
      ...down,
    },
    deployment: { timeZone: 'UTC' },
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
    says: ['is alive: database session 66'],
    silentOn: ['under way'],
  },
]
