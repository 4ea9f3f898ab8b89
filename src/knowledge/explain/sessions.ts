import type { ExplainEntry } from './entry.ts'

export const sessionsEntries: readonly ExplainEntry[] = [
  {
    id: 'sessions/reachable',
    kind: 'check',
    title: 'session store answers',
    severities: ['error'],
    meaning:
      'The sessions of web users are kept in Redis, and nothing else is. Without it nobody can sign in or stay signed ' +
      'in, while API calls with a Bearer token may still work.',
    causes: [
      'Redis is stopped, or still loading its data.',
      'Host, port or database number is wrong, or a firewall stands between.',
      'Redis wants a password, and none or a wrong one is configured.',
      'It is a replica, as after a fail-over that the address did not follow: it takes no writes.',
    ],
    verify: [
      'redis-cli -h HOST -p PORT ping',
      'redis-cli -h HOST -p PORT info server',
      'redis-cli -h HOST -p PORT info replication',
    ],
    remedies: [
      {
        text:
          'Start Redis. A store without persistence comes back empty: then all users sign in again, and nothing else is ' +
          'lost.',
        commands: ['systemctl status redis-server', 'systemctl start redis-server'],
      },
      {
        text:
          'Where it asks for a password (NOAUTH, WRONGPASS), compare with what the service uses ' +
          '(SPRING_DATA_REDIS_PASSWORD).',
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
      'Sessions in the store were written by a clock that runs ahead or behind: they count as not yet begun, or as ' +
      'over. Web users then see "Request failed with status code 401. The expected CSRF token could not be found" when ' +
      'they sign in.',
    causes: [
      "The clock of the service's machine was wrong when the sessions were written, or was set right afterwards.",
      'Machines of the deployment disagree about the time. Only clocks matter: sessions hold epoch milliseconds, so a ' +
        'time zone that is set differently does no harm here.',
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
          'By hand, that is to empty the database of the store, or to restart a store that keeps nothing on disk (the ' +
          "chart's Redis, which has FLUSHDB disabled).",
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
      'Many sessions with a long life, for instance of scripts that sign in on each call.',
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
