/**
 * A queue that the service declares. FIELD-NOTES.md 1.3 has the roots of the names; the product's full names are not
 * public.
 */
interface QueueBean {
  name: string
  arguments: Readonly<Record<string, unknown>>
  /** true if the service consumes it; dead-letter queues have no consumer */
  consumed: boolean
}

export interface Topology {
  exchanges: readonly { name: string; type: string }[]
  queues: readonly QueueBean[]
  bindings: readonly { exchange: string; queue: string; routingKey: string }[]
}

const work = 'testops.direct'
const dead = 'testops.dead-letter'

/** Queues with their own dead-letter queue (`…_dlq`), then those without. */
const withDeadLetters = ['testops_upload_process', 'testops_upload_post_process']
const plain = [
  'testops_upload_complete_process',
  'testops_integration_it_export_launch',
  'testops_system_storage_clean',
  'testops_system_dead_letter',
]

export const topology: Topology = {
  exchanges: [
    { name: work, type: 'direct' },
    { name: dead, type: 'direct' },
  ],
  queues: [
    ...withDeadLetters.flatMap((name) => [
      {
        name,
        arguments: { 'x-dead-letter-exchange': dead, 'x-dead-letter-routing-key': `${name}_dlq` },
        consumed: true,
      },
      { name: `${name}_dlq`, arguments: {}, consumed: false },
    ]),
    ...plain.map((name) => ({ name, arguments: {}, consumed: !name.endsWith('_dead_letter') })),
  ],
  bindings: [
    ...[...withDeadLetters, ...plain].map((queue) => ({ exchange: work, queue, routingKey: queue })),
    ...withDeadLetters.map((name) => ({ exchange: dead, queue: `${name}_dlq`, routingKey: `${name}_dlq` })),
  ],
}
