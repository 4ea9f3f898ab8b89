import { ago, backend, fakeLogs, fakeService, record, running, settings } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, hasTaken, held, minute, restarted, taken, worker, written } from './situation.ts'

const hour = 60 * minute
/** The service lives in UTC, and has held the lock for half an hour: for nine hours and a half by the configuration. */
const wrong = { timeZone: 'Asia/Tokyo' } as const
const unproven = { status: 'problem', severity: 'error', silentOn: ['is dead'] } as const
const restartedDatabase = {
  identity: {
    version: '15.8',
    user: 'testops',
    database: 'testops',
    startedAt: ago(2 * hour),
    inRecovery: false,
    port: 5432,
    pooled: false,
  },
}
const migrating = fakeService({
  status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(31 * minute) }] }),
  environment: settings({ TZ: undefined }),
})
/** of small steps, each only just begun */
const stepping = backend({
  pid: 66,
  state: 'active',
  query: 'UPDATE test_case SET name = 1',
  startedAt: ago(30 * minute + 2000),
  queryStartedAt: ago(0),
})

/** The configuration names a time zone in which the lock was never taken, which something at hand shows. */
export const wrongZone: readonly Case[] = [
  {
    situation: 'by it the lock is yet to be taken',
    sources: { database: database([held({ lockGranted: written(taken, 9) })]), service: restarted, ...down },
    deployment: { timeZone: 'UTC' },
    ...unproven,
    says: [
      '; the zone is not UTC, because in that zone, the time would be in the future)',
      'it is unclear whether testops-1 took the lock before or after its last start',
    ],
  },
  {
    situation: 'the log of the service, which bears a time zone, tells when it was taken',
    sources: { database: database([held()]), service: migrating, logs: hasTaken, ...down },
    deployment: wrong,
    ...unproven,
    says: [
      /; the zone is not Asia\/Tokyo, because the log shows that the service took the lock at \S+ \S+Z\)/,
      'it is unclear whether testops-1 took the lock before or after its last start',
    ],
  },
  {
    situation: 'the log of the service, read in it too, ends before the service was started',
    sources: {
      database: database([held()]),
      service: migrating,
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [record('INFO i.q.a.App : Starting App', { at: ago(31 * minute + 9 * hour) })],
        },
      }),
      ...down,
    },
    deployment: wrong,
    ...unproven,
    says: [
      new RegExp(
        String.raw`; the zone is not Asia\/Tokyo, because in that zone, ` +
          String.raw`the service's log would end before the service started at \S+ \S+Z\)`,
      ),
    ],
  },
  {
    situation: 'there is no log, and a session is at work while the service does not answer yet',
    sources: { database: database([held()], [stepping]), service: migrating, ...down },
    deployment: wrong,
    ...unproven,
    says: ['an open database session may belong to the lock holder: database session 66 (active for '],
  },
  {
    situation: 'the same, and by it PostgreSQL was restarted since',
    sources: { database: database([held()], [worker], restartedDatabase), service: migrating, ...down },
    deployment: wrong,
    ...unproven,
    says: ['an open database session may belong to the lock holder: database session 66 (active for 29 min'],
  },
  {
    situation: "the service's own settings name another",
    sources: {
      database: database([held()]),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(31 * minute) }] }),
        environment: settings({ TZ: 'UTC' }),
      }),
      ...down,
    },
    deployment: wrong,
    ...unproven,
    says: [
      /Asia\/Tokyo \(9 h 30 min ago\), or UTC \(30 min( \d+ s)? ago\)/,
      'it is unclear whether testops-1 took the lock before or after its last start',
      new RegExp(
        String.raw`timeZone in the configuration is Asia\/Tokyo, but the service's setting is UTC: ` +
          String.raw`one of the two is wrong\. ` +
          String.raw`lockgranted means \S+ \S+Z in Asia\/Tokyo, or \S+ \S+Z in UTC`,
      ),
    ],
  },
  {
    situation: "the service's own settings name another, and by either the service was started again since",
    sources: {
      database: database([held({ lockGranted: written(ago(24 * hour)) })]),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
        environment: settings({ TZ: 'UTC' }),
      }),
      ...down,
    },
    deployment: wrong,
    status: 'problem',
    severity: 'error',
    says: ['The holder is dead: the process that took the lock has ended'],
  },
]
