import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const brokerFaults: readonly ExplainText[] = [
  {
    id: 'transient-refused',
    kind: 'fault',
    of: 'broker/queues-durable',
    title: 'the broker refuses to create transient queues',
    meaning:
      'The service cannot create its queues: the broker names the feature transient_nonexcl_queues, and closes the connection with 541.',
    causes: [
      'RabbitMQ has version 4.3 or later, or its configuration denies the feature. VENDOR_RABBIT_DURABLE is ' +
        'missing or false, and the old queues are gone.',
    ],
    signatures: ['transient-refused'],
    words: [
      'set VENDOR_RABBIT_DURABLE to true in the chart values under env.open, delete the existing queues or restart the broker, start the service',
      'broker failure: queue creation refused',
      'broker version 4.3 or higher without quorum queues, while the service declares queues with durable=false by default',
      'queues are not created after the upgrade of rabbitmq, rabbitmq 4.3 refuses queues',
      'брокер отказывается создать очередь, очереди не создаются после обновления rabbitmq',
    ],
  },
  {
    id: 'transient-ahead',
    kind: 'fault',
    of: 'broker/upgrade',
    title: 'an upgrade of the broker will refuse the transient queues in use',
    meaning: 'Everything works now, but will not work after the upgrade of RabbitMQ to 4.3.',
    words: ['before upgrading rabbitmq'],
    see: ['broker-does-not-boot'],
  },
  {
    id: 'durable-mismatch',
    kind: 'fault',
    of: 'broker/queues-durable',
    title: 'queues exist with another `durable` than the service asks for',
    meaning:
      'The broker answers 406 PRECONDITION_FAILED on argument `durable`: the queue or exchange already ' +
      'exists with the other value, be it true or false.',
    causes: [
      'VENDOR_RABBIT_DURABLE was set or removed while the old queues still exist, or was lost in an upgrade of the chart.',
    ],
    signatures: ['precondition-failed'],
    words: [
      'queue exists with durable false, queue exists with durable true, durable differs',
      'durable не совпадает',
      'set VENDOR_RABBIT_DURABLE to true in the chart values under env.open, delete the existing queues or restart the broker',
      'broker error PRECONDITION_FAILED on argument durable',
      'the durable setting differs from an existing queue',
      'inequivalent arg durable for queue',
      'параметр durable не совпадает у существующей очереди, очередь уже существует с другим durable',
    ],
  },
  {
    id: 'broker-down',
    kind: 'fault',
    of: 'broker/reachable',
    title: 'the broker does not answer',
    meaning: 'Results that agents upload do not appear.',
    messages: ['access_refused - login was refused'],
    words: [
      'broker connection refused',
      'rabbitmq is down, broker unreachable',
      'брокер недоступен, rabbitmq не отвечает',
    ],
  },
  {
    id: 'broker-alarm',
    kind: 'fault',
    of: 'broker/alarms',
    title: 'the broker is short of memory or disk, and blocks publishers',
    meaning: 'Uploads hang, although everything runs.',
    messages: [
      /(?:memory|disk) resource limit alarm set\b/,
      'vm_memory_high_watermark set',
      'free disk space is insufficient',
      'publishers will be blocked until this alarm clears',
      /connection\.blocked\W{1,10}low on (?:memory|disk)/,
      /\{resource_limit,(?:memory|disk),/,
    ],
    words: [
      'rabbitmq memory alarm, disk alarm, publishers are blocked',
      'memory watermark, memory high watermark is reached, vm_memory_high_watermark, disk_free_limit',
      'rabbitmq сигнал нехватки памяти или диска, публикация заблокирована, превышен порог памяти',
    ],
  },
]
