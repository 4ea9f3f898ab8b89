import type { DatabaseBackend, DatabaseSource, ServiceSource } from '../../../../src/core/sources.ts'
import { ago, backend, fakeService, running, settings } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, held, minute, written } from './situation.ts'

/** As PostgreSQL shows a session of another to a role without pg_read_all_stats. */
const hidden = (of: Partial<DatabaseBackend>): DatabaseBackend =>
  backend({
    pid: 99,
    user: 'dba',
    clientAddress: null,
    state: null,
    startedAt: null,
    queryStartedAt: null,
    query: null,
    ...of,
  })

const service = (environment: Readonly<Record<string, string>>): ServiceSource =>
  fakeService({
    status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
    environment: settings(environment),
  })
const withUser = service({
  SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops',
  SPRING_DATASOURCE_USERNAME: 'testops',
})
const beside = (session: DatabaseBackend): readonly [DatabaseSource] => database([held()], [], { backends: [session] })

const unproven = { status: 'problem', severity: 'error', silentOn: ['is dead', 'no open database session'] } as const
const dead = {
  status: 'problem',
  severity: 'error',
  says: [
    'The holder is dead: the process that took the lock has ended',
    'no open database session can belong to the lock holder',
  ],
} as const

/** A session of another user hides all but its name. */
export const hiddenOnes: readonly Case[] = [
  {
    situation: "one of Java's driver may be the holder's",
    sources: { database: beside(hidden({})), service: withUser, ...down },
    ...unproven,
    says: [
      'Cannot tell whether the holder is alive: this database user has no permission to see the activity and age ' +
        'of 1 session of dba (PID 99 of PostgreSQL JDBC Driver)',
      '(this database user cannot see the statements of 1 session of other users)',
    ],
  },
  {
    situation: 'one without a name may be anything',
    sources: { database: beside(hidden({ application: '' })), service: withUser, ...down },
    ...unproven,
    says: ['(PID 99) (missing role: pg_read_all_stats)'],
  },
  {
    situation: 'of any program, where it is not known as whom the service signs in',
    sources: { database: beside(hidden({ application: 'DBeaver' })), service: service({}), ...down },
    ...unproven,
    says: ['(PID 99 of DBeaver) (missing role: pg_read_all_stats)'],
  },
  {
    situation: 'one of another program is none that migrates',
    sources: { database: beside(hidden({ application: 'pg_dump' })), service: withUser, ...down },
    ...dead,
  },
  {
    situation: 'one that shows that it was opened after the lock was taken, by a time zone that may be another',
    sources: { database: beside(hidden({ startedAt: ago(20 * minute) })), service: withUser, ...down },
    ...unproven,
    says: ['this database user has no permission to see the activity and age of 1 session of dba'],
  },
  {
    situation: 'one that shows that it was opened after the lock was taken, wherever that was',
    sources: {
      database: database([held({ lockGranted: written(ago(1440 * minute)) })], [], {
        backends: [hidden({ startedAt: ago(20 * minute) })],
      }),
      service: withUser,
      ...down,
    },
    ...dead,
  },
]
