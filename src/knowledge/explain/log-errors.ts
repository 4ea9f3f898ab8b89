import type { ExplainEntry } from './entry.ts'

export const logErrorsEntries: readonly ExplainEntry[] = [
  {
    id: 'service/log-errors',
    kind: 'check',
    title: 'service log shows no other known fault',
    severities: ['error', 'warning'],
    meaning:
      'Since its last start, the service has logged a known fault that no other check decides on: no free ' +
      'database connection, no memory left in a part of it, or a refusal of the broker other than that of ' +
      '`durable`. For 15 minutes it counts with its full severity, then as a warning until the next start.',
    causes: [
      '"Connection is not available, request timed out": the service does more at once than its pool has ' +
        'connections for, or statements wait for each other or for a lock that somebody holds.',
      '"java.lang.OutOfMemoryError" of a service that keeps running: one request or job needed more memory ' +
        'than was left. Its work is lost, and the next one may end the service.',
      '"PRECONDITION_FAILED": a queue exists with another property than the service asks for (its type, its ' +
        'length), or a message was not acknowledged in time.',
    ],
    verify: [
      "grep -nE 'Connection is not available|OutOfMemoryError|PRECONDITION_FAILED' LOG | tail",
      'psql -h HOST -U USER -d DATABASE -c "SELECT pid, state, wait_event_type, now() - xact_start AS since, left(query, 60) FROM pg_stat_activity WHERE state <> \'idle\' ORDER BY xact_start"',
    ],
    remedies: [
      {
        text: 'Pool without connections: end the sessions that hold them, or wait for them. Then see whether it happens again.',
        commands: ['testops-admin explain database/connections'],
      },
      {
        text: 'Memory: give the service more, then restart it.',
        commands: ['testops-admin explain service/crashes'],
      },
      {
        text: 'Broker: compare the property in the message with that of the queue.',
        commands: ['testops-admin explain broker/queues-durable'],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
]
