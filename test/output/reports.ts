import type { CheckReport, DeploymentEvent, DoctorReport } from '../../src/core/check.ts'

/** A report made of checks, with everything that follows from them. */
export function reportOf(checks: readonly CheckReport[], about: Partial<DoctorReport> = {}): DoctorReport {
  const count = (holds: (check: CheckReport) => boolean): number => checks.filter(holds).length
  return {
    schemaVersion: 1,
    deployment: 'prod',
    platform: 'host',
    build: '527u01',
    startedAt: '2026-11-21T04:00:00.000Z',
    durationMs: 1234,
    summary: {
      ok: count(({ status }) => status === 'ok'),
      warning: count(({ severity }) => severity === 'warning'),
      error: count(({ severity }) => severity === 'error'),
      skipped: count(({ status }) => status === 'skipped'),
      unknown: count(({ status }) => status === 'unknown'),
      suppressed: count(({ suppressed }) => suppressed !== undefined),
    },
    rootCauses: checks
      .filter(({ status, because }) => status === 'problem' && because === undefined)
      .map(({ id }) => id),
    checks,
    ...about,
  }
}

function common(id: string, title = 'all is well'): Pick<CheckReport, 'id' | 'title' | 'docs' | 'durationMs'> {
  return { id, title, docs: `testops-admin explain ${id}`, durationMs: 12 }
}

export function ok(id: string, detail = 'as it should be'): CheckReport {
  return { ...common(id), status: 'ok', detail }
}

export function skipped(id: string, reason: string): CheckReport {
  return { ...common(id), status: 'skipped', reason }
}

export function problem(
  id: string,
  severity: 'error' | 'warning',
  message: string,
  more: Partial<CheckReport> = {},
): CheckReport {
  return { ...common(id), status: 'problem', severity, findings: [{ message, evidence: [] }], ...more }
}

export function unknown(id: string, message: string, more: Partial<CheckReport> = {}): CheckReport {
  return { ...common(id), status: 'unknown', error: { code: 'FORBIDDEN', message, suggestions: [] }, ...more }
}

export const healthy = reportOf([
  ok('database/reachable', 'PostgreSQL 15.4 at db.example.org:5432/testops'),
  ok('database/changelog-lock', 'nobody holds the lock'),
  ok('broker/queues-durable', '12 queues and 3 exchanges are durable, and VENDOR_RABBIT_DURABLE is true'),
  ok('service/running', 'systemd unit testops is active since 2026-11-20 08:00:00Z'),
  skipped('api/token', 'no apiToken is configured for this deployment'),
])

const refused = 'the service at http://127.0.0.1:8080 refused the connection: nothing listens on 127.0.0.1:8080'

export const stuckLock = reportOf([
  ok('database/reachable', 'PostgreSQL 15.4 at db.example.org:5432/testops'),
  problem('database/changelog-lock', 'error', '', {
    findings: [
      {
        message:
          'app-1 (10.0.0.7) has held the change-log lock since 2026-11-21 02:12:44 UTC (1 h 47 min ago). The ' +
          'holder is dead: the process that took the lock has ended: app-1 was restarted later, at 2026-11-21 ' +
          '02:13:05Z; no open database session can belong to the lock holder. The service waits for the lock ' +
          'and cannot start',
        evidence: [
          "psql -h db.example.org -p 5432 -U testops -d testops -c 'SELECT id, locked, lockgranted, lockedby " +
            "FROM public.databasechangeloglock'",
          '1 | t | 2026-11-21 02:12:44.463171 | app-1 (10.0.0.7)',
          'tail -n 200 /var/log/testops/testops.log',
          '2026-11-21 02:13:19.148  INFO 4711 --- [           main] liquibase.lockservice                    : ' +
            'Waiting for changelog lock....',
        ],
      },
    ],
    remedy: {
      text: 'Release the lock. This can be undone.',
      commands: [
        'testops-admin unlock-changelog -d prod',
        'testops-admin explain database/changelog-lock   # shows the steps to take by hand',
      ],
    },
  }),
  problem('service/running', 'error', 'the service has failed: exit status 1', { because: 'database/changelog-lock' }),
  problem('api/reachable', 'error', refused, { because: 'database/changelog-lock' }),
  unknown('api/token', refused, { because: 'api/reachable' }),
  unknown('trees/migrated', refused, { because: 'api/reachable' }),
  skipped('integrations/reachable', 'no log is configured'),
  ok('sessions/memory', '12 MB of 512 MB'),
])

const happened = ['00:10', '00:20', '00:30', '00:40', '00:50', '01:00'].map(
  (time, at): DeploymentEvent => ({
    at: `2026-11-21T${time}:00.000Z`,
    kind: at === 5 ? 'repair' : 'image',
    message:
      at === 5
        ? 'op@bastion ran `reset-queues` (done)'
        : `Deployment \`testops\` changed its image from \`testops:5.2${at}\` to \`testops:5.2${at + 1}\``,
    proof: 'kubectl -n testops rollout history deployment/testops',
  }),
)

/** With what happened before: two causes with the same changes, one with others, one with none. */
export const changed = reportOf(
  [
    problem('database/changelog-lock', 'error', 'held', { began: '2026-11-21T02:12:44.463Z', changes: happened }),
    problem('broker/queues-durable', 'error', 'transient', { changes: happened }),
    problem('service/settings', 'warning', 'drift', { changes: happened.slice(4) }),
    problem('sessions/memory', 'warning', 'much', { began: '2026-11-19T00:00:00.000Z', changes: [] }),
  ],
  {
    events: {
      from: '2026-11-18T00:00:00.000Z',
      to: '2026-11-21T04:00:01.234Z',
      list: [
        ...happened,
        { at: '2026-11-21T02:12:44.463Z', kind: 'lock', message: 'the change-log lock was taken' },
        { at: '2026-11-21T02:13:00.000Z', kind: 'log', message: 'the service waits for the change-log lock', count: 6 },
      ],
      unseen: ['replicasets in namespace `testops` may not be listed'],
    },
  },
)

export const databaseDown = reportOf([
  problem('database/reachable', 'error', 'db.example.org:5432 refuses connections', {
    findings: [
      {
        message: 'db.example.org:5432 refuses connections',
        evidence: ['pg_isready -h db.example.org -p 5432', 'connect ECONNREFUSED 10.0.0.3:5432'],
      },
    ],
    remedy: {
      text: 'Start PostgreSQL, or correct its address.',
      commands: ['# start the database', 'pg_isready -h db.example.org -p 5432'],
    },
  }),
  unknown('database/changelog-lock', 'db.example.org:5432 refuses connections', { because: 'database/reachable' }),
  unknown('database/connections', 'db.example.org:5432 refuses connections', { because: 'database/reachable' }),
  problem('api/reachable', 'error', 'the service says DOWN', { because: 'database/reachable' }),
  ok('broker/reachable', 'RabbitMQ 4.3.6'),
])

export const warningsOnly = reportOf([
  ok('database/reachable'),
  problem('broker/upgrade', 'warning', '12 transient queues are in use on RabbitMQ 3.13.7, which 4.3 will refuse', {
    findings: [
      {
        message: '12 transient queues are in use on RabbitMQ 3.13.7, which 4.3 will refuse',
        evidence: ['rabbitmqctl -p / list_queues name durable exclusive\nupload\tfalse\tfalse'],
      },
    ],
    remedy: {
      text: 'Make them durable before the upgrade.',
      commands: ['testops-admin reset-queues -d prod'],
      risk: 'The service is down during the repair.',
      undo: 'testops-admin undo RUN',
    },
  }),
  problem('integrations/debug-logging', 'warning', 'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION is debug', {
    remedy: {
      text: 'Take the setting away.',
      commands: ['testops-admin set-env -d prod --integration-debug off'],
    },
  }),
])

export const unknownOnly = reportOf([
  ok('database/reachable'),
  unknown('database/changelog-lock', 'user reader may not read public.databasechangeloglock', {
    error: {
      code: 'FORBIDDEN',
      message: 'user reader may not read public.databasechangeloglock',
      suggestions: ['GRANT SELECT ON public.databasechangeloglock TO reader'],
    },
  }),
  unknown('broker/queues-durable', 'the management plugin is not enabled', {
    error: {
      code: 'UNAVAILABLE',
      message: 'the management plugin is not enabled',
      suggestions: ['rabbitmq-plugins enable rabbitmq_management'],
    },
  }),
])

const noDatabase =
  "no database is configured for `prod`: set `database.url` (the service's settings are unknown: set " +
  '`host.environmentFile`)'

/** Most of it is skipped, for a few reasons. */
export const mostlySkipped = reportOf([
  skipped('database/reachable', noDatabase),
  skipped('database/changelog-lock', noDatabase),
  skipped('database/disk', noDatabase),
  ok('broker/reachable', 'RabbitMQ 4.3.6'),
  skipped('broker/queues-durable', "the service's settings are unknown: set `host.environmentFile`"),
  skipped(
    'service/running',
    'no start and stop commands are configured for the service: set `host.unit` or `host.commands`',
  ),
  skipped('api/token', 'no `apiToken` is configured'),
  ok('api/reachable', 'it answers UP after 4 ms'),
  skipped('api/token-lifetime', 'no `apiToken` is configured'),
  skipped('trees/migrated', 'no `apiToken` is configured'),
  skipped('integrations/debug-logging', "the service's settings are unknown: set `host.environmentFile`"),
])

const unread = {
  code: 'UNAVAILABLE' as const,
  message:
    "the service's settings in /etc/testops/testops.env (`host.environmentFile` at testops-admin.yaml:4) " +
    'cannot be read: the file is missing',
  suggestions: ['ls -l /etc/testops', 'correct `host.environmentFile` at testops-admin.yaml:4'],
}

/** The file that tells where most parts are is not there. */
export const settingsMissing = reportOf([
  ...['reachable', 'changelog-lock', 'disk'].map((name) => unknown(`database/${name}`, '', { error: unread })),
  ok('broker/reachable', 'RabbitMQ 4.3.6'),
  unknown('broker/queues-durable', '', { error: unread }),
  unknown('service/clocks', 'user reader may not ask'),
  ok('api/reachable', 'it answers UP after 4 ms'),
  unknown('integrations/debug-logging', '', { error: unread }),
])

/** Text from outside that tries to be more than text. */
export const hostile = reportOf([
  problem('broker/queues-durable', 'error', 'queue \u001b[31mred\u001b[0m\u0007 in vhost \u202e/', {
    findings: [
      {
        message:
          'queue \u001b[31mred\u001b[0m\u0007 in vhost \u202e/ and the 界面 of «Не удается установить ' +
          'соединение» end here, well beyond the edge',
        evidence: ['\u001b]0;title\u0007', 'line one\r\nline two'],
      },
    ],
  }),
])

const at = (time: string): string => `2026-11-21T${time}.000Z`
const logged = (message: string, hour: string, counts: readonly number[]): DeploymentEvent[] =>
  counts.flatMap((count, minute) =>
    count === 0
      ? []
      : [{ at: at(`${hour}:${String(minute).padStart(2, '0')}:00`), kind: 'log', message, count } as const],
  )
const waits = Array.from({ length: 58 }, (_, minute) => (minute < 13 ? 0 : 6))

const changes: readonly DeploymentEvent[] = [
  {
    at: at('01:58:12'),
    kind: 'rollout',
    message: 'revision 41 of deployment testops-testops',
    proof: 'kubectl --context prod -n testops rollout history deployment/testops-testops',
  },
  { at: at('01:58:12'), kind: 'image', message: 'testops 526u03 was replaced by 527u01' },
  { at: at('01:59:40'), kind: 'setting', message: 'VENDOR_RABBIT_DURABLE changed' },
]

/** A report that knows what happened before, on Kubernetes, with several problems and the state of each part. */
export const eventful = reportOf(
  [
    ok('database/reachable', 'PostgreSQL 15.4 at db.example.org:5432/testops'),
    {
      ...stuckLock.checks[1]!,
      began: at('02:12:44'),
      changes,
    },
    ok('database/connections', '14 of 100 connections are used'),
    unknown('database/disk', 'user reader may not read pg_stat_file', {
      error: {
        code: 'FORBIDDEN',
        message: 'user reader may not ask how large the data directory is',
        suggestions: [
          'GRANT pg_monitor TO reader',
          'psql -h db.example.org -p 5432 -U testops -d testops -c "SELECT pg_database_size(current_database())"',
        ],
      },
    }),
    ok('broker/reachable', 'RabbitMQ 4.3.6 at mq.example.org:5672'),
    problem('broker/upgrade', 'warning', '12 transient queues are in use on RabbitMQ 4.2.1, which 4.3 will refuse', {
      findings: [
        {
          message: '12 transient queues are in use on RabbitMQ 4.2.1, which 4.3 will refuse',
          evidence: [
            'rabbitmqctl -p / list_queues name durable exclusive',
            'upload\tfalse\tfalse\nimport\tfalse\tfalse\nexport\tfalse\tfalse',
          ],
        },
      ],
      changes: [],
      began: at('01:59:58'),
      remedy: {
        text: 'Make them durable before the upgrade.',
        commands: ['testops-admin reset-queues -d prod'],
        risk: 'The service is down during the repair.',
        undo: 'testops-admin undo RUN',
      },
    }),
    ok('sessions/reachable', 'Redis 7.0.15 at redis.example.org:6379'),
    ok('sessions/memory', '12 MB of 512 MB'),
    problem('service/running', 'error', 'no pod of deployment testops-testops is ready', {
      because: 'database/changelog-lock',
    }),
    ok('service/clocks', 'the clocks of 2 nodes and of the database differ by 40 ms'),
    skipped('service/cpu-level', 'the image runs on every x86-64 processor'),
    problem('api/reachable', 'error', refused, { because: 'database/changelog-lock' }),
    unknown('api/token', refused, { because: 'api/reachable' }),
    unknown('trees/migrated', refused, { because: 'api/reachable' }),
    skipped('integrations/reachable', 'no integration is configured'),
    skipped('integrations/credentials', 'no integration is configured'),
  ],
  {
    platform: 'kubernetes',
    timeZone: 'Asia/Tokyo',
    durationMs: 2345,
    events: {
      from: at('00:00:00'),
      to: at('04:00:00'),
      list: [
        ...logged('a host name does not resolve', '00', [0, 3, 1, 0, 0, 2, 7, 4, 0, 0, 0, 1]),
        ...changes,
        { at: at('02:12:44'), kind: 'lock', message: 'app-1 (10.0.0.7) took the change-log lock' },
        { at: at('02:13:05'), kind: 'restart', message: 'testops-testops-6d4f, exit code 137 (out of memory)' },
        ...logged('the service waits for the change-log lock', '02', waits),
        { at: at('02:58:30'), kind: 'restart', message: 'testops-testops-6d4f, exit code 1' },
        ...logged('the service waits for the change-log lock', '03', waits.toReversed()),
        { at: at('03:31:00'), kind: 'restart', message: 'testops-testops-6d4f, exit code 1' },
        {
          at: at('03:40:10'),
          kind: 'repair',
          message: 'service restart (run 2026-11-21-034010-a1b2), failed',
          proof: 'testops-admin history -d prod',
        },
      ],
      unseen: ['disk: user tester may not get nodes/proxy in the cluster of context prod'],
    },
  },
)

const debug = 'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION is still debug'
/** One problem that is ignored, and one that was until a day that is over. */
export const ignoring = reportOf([
  ok('database/reachable', 'PostgreSQL 15.4 at db.example.org:5432/testops'),
  {
    ...skipped('integrations/debug-logging', 'suppressed until 2027-01-31: INC-7, traced until Friday'),
    suppressed: {
      severity: 'warning',
      findings: [{ message: debug, evidence: ['grep DEBUG service.env', `${debug}=debug`] }],
      reason: 'INC-7, traced until Friday',
      until: '2027-01-31',
    },
  },
  problem('api/token-lifetime', 'warning', '60 s, and 3600 s are set', { ignoredUntil: '2026-11-01' }),
])
