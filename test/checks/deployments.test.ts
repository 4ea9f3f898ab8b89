import { expect, it } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { exitCodeOf } from '../../src/engine/report.ts'
import { runChecks } from '../../src/engine/run-checks.ts'
import { AdminError } from '../../src/core/error.ts'
import {
  ago,
  backend,
  clockAhead,
  commands,
  consumer,
  fakeApi,
  fakeBroker,
  fakeDatabase,
  fakeLogs,
  fakeNetwork,
  fakeService,
  fakeSessions,
  lockRow,
  lockTable,
  openFakes,
  queue,
  record,
  running,
  sample,
  session,
  settings,
  stopped,
  unreachable,
} from '../fakes/index.ts'
import type { Parts } from './table.ts'

/** A whole deployment, and what the whole catalogue makes of it. */
interface Story {
  story: string
  parts: Parts
  exitCode: number
  roots: readonly string[]
  /** problems besides the roots, each with its cause */
  follow?: Readonly<Record<string, string>>
  timeZone?: string
}

const minute = 60_000
const taken = ago(30 * minute)
const utc = (at: Date): string => at.toISOString().slice(0, 23).replace('T', ' ')
const held = lockTable([lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)', lockGranted: utc(taken) })])
const restarted = running({
  instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(10 * minute) }],
})
const migrating = running({
  instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: ago(31 * minute) }],
})
const worker = backend({
  state: 'active',
  query: 'CREATE INDEX ON test_case (name)',
  startedAt: ago(30 * minute + 1000),
  queryStartedAt: ago(29 * minute),
})
const stuck: Parts = {
  database: [fakeDatabase({ changelogLocks: [held], backends: [] })],
  service: fakeService({ status: restarted }),
  api: unreachable('api'),
}
const refused = record(
  'CachingConnectionFactory : reply-code=541, INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.',
  { at: ago(minute) },
)
const denying: Parts = {
  broker: fakeBroker({
    identity: { product: 'RabbitMQ', version: '4.3.5' },
    deprecatedFeature: { state: 'denied', used: false },
    queues: [],
    exchanges: [],
    consumers: [],
  }),
  service: fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: undefined }) }),
}
const untried = new AdminError('UNAVAILABLE', "the service's settings cannot be read", [], {
  obstacle: { kind: 'settings' },
})
const unwell = fakeApi({ health: { httpStatus: 503, status: 'DOWN', durationMs: 9 } })
const future = session({ creationTime: Date.now() + 120 * minute, lastAccessedTime: Date.now() + 120 * minute })
const lost = record('java.net.UnknownHostException: jira.invalid', { at: ago(minute), level: 'ERROR' })
const everythingDown: Parts = {
  database: unreachable('database'),
  broker: unreachable('broker'),
  sessions: unreachable('sessions'),
  service: fakeService({ status: stopped() }),
  api: unreachable('api'),
}

const stories: Story[] = [
  { story: 'all is well', parts: {}, exitCode: 0, roots: [] },
  {
    story: 'a stuck lock keeps the service from starting',
    parts: stuck,
    exitCode: 1,
    roots: ['database/changelog-lock'],
    follow: { 'api/reachable': 'database/changelog-lock' },
  },
  {
    story: 'the service died of a stuck lock',
    parts: { ...stuck, service: fakeService({ status: stopped({ state: 'failed' }) }) },
    exitCode: 1,
    roots: ['database/changelog-lock'],
    follow: {
      'service/running': 'database/changelog-lock',
      'service/crashes': 'database/changelog-lock',
      'api/reachable': 'database/changelog-lock',
    },
  },
  {
    story: 'a stuck lock under a healthy service',
    parts: { ...stuck, api: fakeApi() },
    exitCode: 2,
    roots: ['database/changelog-lock'],
  },
  {
    story: 'a migration is under way',
    parts: {
      ...stuck,
      database: [fakeDatabase({ changelogLocks: [held], backends: [worker] })],
      service: fakeService({ status: migrating }),
    },
    exitCode: 0,
    roots: [],
  },
  {
    story: 'a stuck lock, and the broker is down',
    parts: { ...stuck, broker: unreachable('broker') },
    exitCode: 1,
    roots: ['database/changelog-lock', 'broker/reachable'],
    follow: { 'api/reachable': 'database/changelog-lock' },
  },
  {
    story: 'a migration is under way, and the broker is down',
    parts: {
      ...stuck,
      database: [fakeDatabase({ changelogLocks: [held], backends: [worker] })],
      service: fakeService({ status: migrating }),
      broker: unreachable('broker'),
    },
    exitCode: 1,
    roots: ['broker/reachable'],
  },
  {
    story: 'the database is down',
    parts: { database: unreachable('database'), api: unwell },
    exitCode: 1,
    roots: ['database/reachable'],
    follow: { 'api/reachable': 'database/reachable' },
  },
  { story: 'the broker is down', parts: { broker: unreachable('broker') }, exitCode: 1, roots: ['broker/reachable'] },
  {
    story: 'the session store is down',
    parts: { sessions: unreachable('sessions'), api: unwell },
    exitCode: 1,
    roots: ['sessions/reachable'],
    follow: { 'api/reachable': 'sessions/reachable' },
  },
  {
    story: 'the service is stopped',
    parts: { service: fakeService({ status: stopped() }), api: unreachable('api') },
    exitCode: 1,
    roots: ['service/running'],
    follow: { 'api/reachable': 'service/running' },
  },
  {
    story: 'everything is down',
    parts: everythingDown,
    exitCode: 1,
    roots: ['database/reachable', 'broker/reachable', 'sessions/reachable'],
    follow: { 'service/running': 'database/reachable', 'api/reachable': 'database/reachable' },
  },
  {
    story: 'transient queues are refused',
    parts: { ...denying, logs: fakeLogs({ recent: { complete: true, records: [refused] } }) },
    exitCode: 1,
    roots: ['broker/queues-durable'],
  },
  {
    story: 'transient queues are refused, and an integration has no address',
    parts: {
      ...denying,
      logs: fakeLogs({ recent: { complete: true, records: [refused, lost] } }),
      network: fakeNetwork({ resolve: false }),
      service: fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: undefined }), resolve: false }),
    },
    exitCode: 1,
    roots: ['broker/queues-durable', 'integrations/reachable'],
  },
  {
    story: 'queues are transient, and the setting is true',
    parts: {
      broker: fakeBroker({ queues: [queue({ durable: false, consumers: 0 })], consumers: [] }),
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [
            record(
              "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'testops.upload' in vhost '/': " +
                "received 'true' but current is 'false'",
            ),
          ],
        },
      }),
    },
    exitCode: 1,
    roots: ['broker/queues-durable'],
    follow: { 'broker/upgrade': 'broker/queues-durable' },
  },
  {
    story: 'transient queues before an upgrade',
    parts: {
      broker: fakeBroker({ queues: [queue({ durable: false })] }),
      service: fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: 'false' }) }),
    },
    exitCode: 2,
    roots: ['broker/upgrade'],
  },
  {
    story: "the service's clock is ahead, and so are its sessions",
    parts: {
      api: fakeApi({ clock: clockAhead(120 * minute, 510) }),
      sessions: fakeSessions({ sampleSessions: sample([future]) }),
    },
    exitCode: 1,
    roots: ['service/clocks'],
    follow: { 'sessions/clock': 'service/clocks' },
  },
  {
    story: 'a clock is a few seconds off, and sessions are stale for another reason',
    parts: {
      api: fakeApi({ clock: clockAhead(9000, 510) }),
      sessions: fakeSessions({ sampleSessions: sample([future]) }),
    },
    exitCode: 1,
    roots: ['sessions/clock', 'service/clocks'],
  },
  {
    story: 'the broker refuses queues, and the last start released the lock of a migration that may still run',
    parts: {
      ...denying,
      service: fakeService({
        status: stopped({ state: 'failed' }),
        environment: settings({ VENDOR_RABBIT_DURABLE: undefined }),
      }),
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [
            record('liquibase.lockservice : Waiting for changelog lock....'),
            record('liquibase.lockservice : Successfully released change log lock'),
            record('LockException: Could not acquire change log lock.  Currently locked by a (10.0.0.8) since 1/1/26'),
          ],
        },
      }),
      api: unreachable('api'),
    },
    exitCode: 1,
    roots: ['broker/queues-durable', 'service/crashes'],
    follow: { 'service/running': 'broker/queues-durable', 'api/reachable': 'broker/queues-durable' },
  },
  {
    story: 'the token is refused',
    parts: { api: fakeApi({ accessToken: new AdminError('UNAUTHENTICATED', 'refused') }) },
    exitCode: 1,
    roots: ['api/token'],
  },
  {
    story: 'the token is refused, and the API is slow, which shows without a token',
    parts: {
      api: fakeApi({ accessToken: new AdminError('UNAUTHENTICATED', 'refused'), latencies: [2000, 2100, 2200] }),
    },
    exitCode: 1,
    roots: ['api/token', 'api/latency'],
  },
  {
    story: "the service is stopped, and the configuration's password of the database is wrong",
    parts: {
      database: new AdminError('UNAUTHENTICATED', 'refused the password of user doctor', [], {
        obstacle: { kind: 'login' },
      }),
      service: fakeService({ status: stopped() }),
      api: unreachable('api'),
    },
    exitCode: 1,
    roots: ['database/reachable', 'service/running'],
    follow: { 'api/reachable': 'service/running' },
  },
  {
    story: 'the service is stopped, and its own password of the database is wrong',
    parts: {
      database: new AdminError('UNAUTHENTICATED', 'refused the password of user testops'),
      service: fakeService({ status: stopped() }),
      api: unreachable('api'),
    },
    exitCode: 1,
    roots: ['database/reachable'],
    follow: { 'service/running': 'database/reachable', 'api/reachable': 'database/reachable' },
  },
  {
    story: "the service's settings cannot be read, which alone tell where its parts are",
    parts: {
      database: untried,
      broker: untried,
      sessions: untried,
      api: untried,
      service: fakeService({ environment: untried }),
    },
    exitCode: 3,
    roots: [],
  },
  {
    story: "a stuck lock under a service that runs, whose API's address is not known",
    parts: { ...stuck, api: untried },
    exitCode: 3,
    roots: ['database/changelog-lock'],
  },
  {
    story: 'the API is slow',
    parts: { api: fakeApi({ latencies: [2000, 2100, 2200] }) },
    exitCode: 2,
    roots: ['api/latency'],
  },
  {
    story: 'a stuck lock under a healthy service, which is slow for a reason of its own',
    parts: { ...stuck, api: fakeApi({ latencies: [2000, 2100, 2200] }) },
    exitCode: 2,
    roots: ['database/changelog-lock', 'api/latency'],
  },
  {
    story: 'no connection is left',
    parts: { database: new AdminError('EXHAUSTED', 'no free connection'), api: unwell },
    exitCode: 1,
    roots: ['database/reachable'],
    follow: { 'api/reachable': 'database/reachable' },
  },
  {
    story: 'a healthy deployment that looks ill',
    timeZone: 'Asia/Tokyo',
    parts: {
      broker: fakeBroker({
        queues: [queue(), queue({ name: 'billing', durable: false })],
        consumers: [consumer(), consumer({ queue: 'billing', user: 'billing' })],
      }),
      sessions: fakeSessions({
        sampleSessions: sample([session({ lastAccessedTime: Date.now() - 34 * minute, maxInactiveSeconds: 1800 })], {
          indexed: true,
        }),
      }),
      logs: fakeLogs({
        recent: {
          complete: true,
          records: [record('java.net.UnknownHostException: jira.example.org', { at: ago(300 * minute) })],
        },
      }),
      api: fakeApi({ accessToken: new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured') }),
    },
    exitCode: 0,
    roots: [],
  },
  {
    story: 'a user without rights on the lock table',
    parts: { database: [fakeDatabase({ changelogLocks: [lockTable(null)] })] },
    exitCode: 3,
    roots: [],
  },
]

it.each(stories)('$story', async ({ parts, exitCode, roots, follow = {}, timeZone = 'UTC' }) => {
  const report = await runChecks({
    checks,
    open: openFakes(parts),
    deployment: { name: 'prod', platform: 'host', vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }, timeZone },
    deadlineMs: 2000,
    commands,
  })
  const problems = report.checks.filter(({ status }) => status === 'problem')
  expect(report.rootCauses, JSON.stringify(problems, null, 2)).toEqual(roots)
  expect(
    Object.fromEntries(problems.filter(({ id }) => !roots.includes(id)).map(({ id, because }) => [id, because])),
  ).toEqual(follow)
  expect(exitCodeOf(report)).toBe(exitCode)
  const unexplained = report.checks.filter(({ status, because }) => status === 'unknown' && because === undefined)
  expect(unexplained.length > 0).toBe(exitCode === 3)
})
