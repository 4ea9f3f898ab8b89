import type { ExplainEntry } from './entry.ts'

export const sessionsEntries: readonly ExplainEntry[] = [
  {
    id: 'sessions/reachable',
    kind: 'check',
    title: 'session store answers',
    severities: ['error'],
    meaning:
      'Redis holds the sessions of web users, and nothing else. Without it nobody can sign in or stay signed ' +
      'in, but API calls with a Bearer token may still work.',
    causes: [
      'Redis is stopped, or still loading its data.',
      'The host, port or database number is wrong, or a firewall blocks the connection.',
      'Redis wants a password, and the configured one is missing or wrong.',
      'The address points to a replica, which accepts no writes: for example after a fail-over.',
    ],
    verify: [
      'redis-cli -h HOST -p PORT ping',
      'redis-cli -h HOST -p PORT info server',
      'redis-cli -h HOST -p PORT info replication',
    ],
    remedies: [
      {
        text: 'Start Redis. A store without persistence comes back empty: all users sign in again, but nothing else is lost.',
        commands: ['systemctl status redis-server', 'systemctl start redis-server'],
      },
      {
        text:
          'If it asks for a password (NOAUTH, WRONGPASS), compare the configured one with that of the ' +
          'service (SPRING_DATA_REDIS_PASSWORD).',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#what-it-is, docs/facts/service.md#tokens, docs/facts/deployment.md#chart, docs/facts/sessions.md',
  },
  {
    id: 'sessions/clock',
    kind: 'check',
    title: 'sessions are neither expired nor from the future',
    severities: ['error'],
    meaning:
      'Sessions in the store were written with a clock that is fast or slow, so they count as not yet ' +
      'active, or as expired. Web users then see "Request failed with status code 401. The expected CSRF ' +
      'token could not be found" when they sign in.',
    causes: [
      "The clock of the service's machine was wrong when the sessions were written, or was corrected afterwards.",
      'Machines of the deployment disagree about the time. Only clocks matter: sessions hold epoch ' +
        'milliseconds, so a different time zone does no harm here.',
    ],
    verify: [
      'date -u; redis-cli -h HOST -p PORT time',
      'timedatectl status',
      "redis-cli -h HOST -p PORT --scan --pattern '*:sessions:*' | wc -l",
    ],
    remedies: [
      {
        text: 'Set the clocks right first (see service/clocks), or the sessions go bad again.',
        commands: ['timedatectl set-ntp true'],
      },
      {
        text: 'Remove the sessions with wrong times. Their users sign in again.',
        commands: ['testops-admin flush-sessions --stale'],
      },
      {
        text: 'Or remove all sessions: every user is signed out. The store holds nothing else.',
        commands: ['testops-admin flush-sessions'],
      },
      {
        text:
          'By hand: empty the database of the store. If it keeps nothing on disk, you can restart it instead ' +
          "(the chart's Redis, which has FLUSHDB disabled).",
        commands: ['redis-cli -h HOST -p PORT -n DATABASE FLUSHDB', 'systemctl restart redis-server'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#errors, docs/facts/sessions.md',
  },
  {
    id: 'sessions/memory',
    kind: 'check',
    title: 'session store has memory left',
    severities: ['error', 'warning'],
    meaning:
      'Redis has reached its limit (maxmemory). With the policy noeviction it refuses to store new sessions, so nobody ' +
      'can sign in; with another policy it drops sessions, and users are signed out for no visible reason.',
    causes: [
      'There are many sessions with a long life, for example of scripts that sign in on each call.',
      'Other programs keep their data in the same Redis.',
      'maxmemory is set too low.',
    ],
    verify: [
      'redis-cli -h HOST -p PORT info memory',
      'redis-cli -h HOST -p PORT info stats | grep evicted_keys',
      'redis-cli -h HOST -p PORT dbsize',
    ],
    remedies: [
      {
        text: 'Raise the limit, for now and in the configuration file.',
        commands: ['redis-cli -h HOST -p PORT config set maxmemory 512mb', 'redis-cli -h HOST -p PORT config rewrite'],
      },
      {
        text: 'Remove sessions that nobody needs. Their users sign in again.',
        commands: ['testops-admin flush-sessions --stale'],
      },
    ],
    source: 'docs/facts/sessions.md, docs/reference/faults.md',
  },
]
