import type { DatabaseBackend } from '../../../../src/core/sources.ts'
import { AdminError } from '../../../../src/core/error.ts'
import { ago, backend, fakeService, running, settings } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, dead, down, held, minute, written } from './situation.ts'

const hour = 60 * minute
/** by the service's settings; half a minute ago where the JVM was told New York's */
const fiveHoursAgo = held({ lockGranted: written(ago(5 * hour)) })
const assumed = { timeZone: 'UTC', isTimeZoneAssumed: true } as const
const restartedDatabase = { identity: { version: '15.8', user: 'testops', database: 'testops', startedAt: ago(7 * minute), inRecovery: false, pooled: false } }
const environment = settings({ SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops', SPRING_DATASOURCE_USERNAME: 'testops' })
const restarted = fakeService({ status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(6 * minute) }] }), environment })
const off = fakeService({ status: { state: 'stopped', detail: 'inactive (dead)', instances: [] }, environment })

/** At work since a while, and younger than the lock by the settings' time zone. */
const young = (of: Partial<DatabaseBackend> = {}): DatabaseBackend =>
  backend({ pid: 88, startedAt: ago(minute), state: 'active', query: 'SELECT pg_sleep(25)', queryStartedAt: ago(3000), ...of })

/** only just begun, however long the tests before this one take */
const daily = { query: 'SELECT 1', queryStartedAt: ago(-minute) }

const unproven = {
  status: 'problem',
  severity: 'warning',
  says: [
    "whether its holder lives is not shown: at work, and younger than the lock only if that was taken in the time zone that the service's settings name: database session 88 (active for ",
  ],
  silentOn: ['is dead', 'no database session'],
} as const
const isDead = (why: string): Pick<Case, 'status' | 'severity' | 'says'> => ({ status: 'problem', severity: 'warning', says: [`its holder is dead: ${why}`] })
const byDatabase = isDead('PostgreSQL has been restarted since')
const byStart = isDead('the process that took it is gone')

/** The settings name a time zone, and the JVM that took the lock may have been told another on its command line. */
export const otherZone: readonly Case[] = [
  {
    situation: 'PostgreSQL was restarted since by the settings, and a session is at work beside the service',
    sources: { database: database([fiveHoursAgo], [young()], restartedDatabase), service: restarted },
    deployment: assumed,
    ...unproven,
  },
  {
    situation: 'PostgreSQL was restarted since by the settings, and a session of the stopped service is at work',
    sources: { database: database([fiveHoursAgo], [young()], restartedDatabase), service: off, ...down },
    deployment: assumed,
    ...unproven,
    severity: 'error',
  },
  {
    situation: "PostgreSQL was restarted since by the settings, and another user's Java is at work",
    sources: { database: database([fiveHoursAgo], [young({ user: 'dba' })], restartedDatabase), service: restarted },
    deployment: assumed,
    ...unproven,
  },
  {
    situation: 'the service was started again since by the settings, and a session is at work beside it',
    sources: { database: database([fiveHoursAgo], [young()]), service: restarted },
    deployment: assumed,
    ...unproven,
  },
  {
    situation: 'the service was started again since by its settings alone, and a session is at work beside it',
    sources: { database: database([fiveHoursAgo], [young()]), service: restarted },
    deployment: { timeZone: null },
    ...unproven,
  },
  {
    situation: 'PostgreSQL was restarted since by the settings, and who may be at work may not be seen',
    sources: { database: database([fiveHoursAgo], [], { ...restartedDatabase, backends: new AdminError('FORBIDDEN', 'no') }), service: restarted },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: ['whether its holder lives is not shown: other sessions of the database may not be seen'],
    silentOn: ['is dead'],
  },
  {
    situation: 'the same, and one of another user hides what it does',
    sources: {
      database: database([fiveHoursAgo], [young({ user: 'dba', state: null, query: null, startedAt: null, queryStartedAt: null })], restartedDatabase),
      service: restarted,
    },
    deployment: assumed,
    status: 'problem',
    severity: 'warning',
    says: ['whether its holder lives is not shown: what dba does'],
    silentOn: ['is dead'],
  },
  {
    situation: 'PostgreSQL was restarted since, and nobody is at work',
    sources: { database: database([fiveHoursAgo], [young({ state: 'idle' })], restartedDatabase), service: restarted },
    deployment: assumed,
    ...byDatabase,
  },
  {
    situation: 'PostgreSQL was restarted since, the service is dead, and no session is there',
    sources: { database: database([fiveHoursAgo], [], restartedDatabase), service: dead, ...down },
    deployment: assumed,
    ...byDatabase,
    severity: 'error',
  },
  {
    situation: 'PostgreSQL was restarted since, and the service is at its daily work',
    sources: { database: database([fiveHoursAgo], [young(daily)], restartedDatabase), service: restarted },
    deployment: assumed,
    ...byDatabase,
  },
  {
    situation: 'the service was started again since, and is at its daily work',
    sources: { database: database([fiveHoursAgo], [young(daily)]), service: restarted },
    deployment: assumed,
    ...byStart,
  },
  {
    situation: 'PostgreSQL was restarted since by the configuration, which is sure of the time zone',
    sources: { database: database([fiveHoursAgo], [young()], restartedDatabase), service: restarted },
    deployment: { timeZone: 'UTC' },
    ...byDatabase,
  },
  {
    situation: 'the lock is so old that PostgreSQL was restarted since wherever it was taken',
    sources: { database: database([held({ lockGranted: written(ago(24 * hour)) })], [young()], restartedDatabase), service: restarted },
    deployment: assumed,
    ...byDatabase,
  },
  {
    situation: 'the lock is so old that whoever is at work came later wherever it was taken',
    sources: { database: database([held({ lockGranted: written(ago(24 * hour)) })], [young()], { identity: { ...restartedDatabase.identity, startedAt: ago(48 * hour) } }), service: restarted },
    deployment: assumed,
    ...byStart,
  },
]
