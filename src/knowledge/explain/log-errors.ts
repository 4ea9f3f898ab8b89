import type { ExplainEntry } from './entry.ts'

export const logErrorsEntries: readonly ExplainEntry[] = [
  {
    id: 'service/log-errors',
    kind: 'check',
    title: 'service log tells of no other known fault',
    severities: ['error', 'warning'],
    meaning:
      'Since its last start the service has logged a fault that is known by its words, and of which no other check has the last word: no ' +
      'free database connection, no memory left in a part of it, a refusal of the broker other than that of `durable`. It is ' +
      'told as grave as it is for 15 minutes, then as a warning, until the next start.',
    causes: [
      '"Connection is not available, request timed out": more is done at once than the pool has connections for, or statements wait for ' +
        'one another or for a lock that somebody holds.',
      '"java.lang.OutOfMemoryError" of a service that goes on: one request or job took more than was left; what it did is lost, and the next ' +
        'may end the service.',
      '"PRECONDITION_FAILED": a queue is there with another property than the service asks for (its type, its length), or a message was not ' +
        'acknowledged in time.',
    ],
    verify: [
      "grep -nE 'Connection is not available|OutOfMemoryError|PRECONDITION_FAILED' LOG | tail",
      'psql -h HOST -U USER -d DATABASE -c "SELECT pid, state, wait_event_type, now() - xact_start AS since, left(query, 60) FROM pg_stat_activity WHERE state <> \'idle\' ORDER BY xact_start"',
    ],
    remedies: [
      {
        text: 'Of a pool without connections: end or wait for what holds them, then see whether it comes again.',
        commands: ['testops-admin explain database/connections'],
      },
      {
        text: 'Of memory: give the service more, then restart it.',
        commands: ['testops-admin explain service/crashes'],
      },
      {
        text: 'Of the broker: compare the property that it names with that of the queue.',
        commands: ['testops-admin explain broker/queues-durable'],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
]
