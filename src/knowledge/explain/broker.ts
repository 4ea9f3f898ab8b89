import type { ExplainEntry } from './entry.ts'

export const brokerEntries: readonly ExplainEntry[] = [
  {
    id: 'broker/reachable',
    kind: 'check',
    title: 'broker answers',
    severities: ['error'],
    meaning:
      'The service passes work to itself through queues on RabbitMQ: above all, the results that agents upload. Without the ' +
      'broker, uploads are not processed. A deployment that uses SQS has no RabbitMQ, and this check is skipped.',
    causes: [
      'RabbitMQ is stopped, still starting, or refuses to boot.',
      'The host, port or virtual host is wrong, or a firewall blocks the connection.',
      'The user or password is wrong, or the user has no permission on the virtual host.',
      'After an upgrade to 4.3: a node that still has a transient queue does not boot (failed_to_deny_deprecated_features in its log).',
    ],
    verify: ['rabbitmq-diagnostics check_running', 'rabbitmqctl list_vhosts', 'rabbitmqctl authenticate_user USER'],
    remedies: [
      {
        text: 'Start RabbitMQ. If it does not start, read its log.',
        commands: ['systemctl status rabbitmq-server', 'systemctl start rabbitmq-server'],
      },
      {
        text: 'If its log says failed_to_deny_deprecated_features, a transient queue keeps it from booting. This shows what to do, step by step.',
        commands: ['testops-admin explain broker-does-not-boot'],
      },
    ],
    source: 'docs/facts/service.md#what-it-is, docs/facts/deployment.md#settings, docs/facts/rabbitmq.md',
  },
  {
    id: 'broker/queues-durable',
    kind: 'check',
    title: 'queues are durable',
    severities: ['error', 'warning'],
    meaning:
      'The service declares its queues with durable=false unless VENDOR_RABBIT_DURABLE is true (the prefix is the ' +
      "vendor's own). RabbitMQ 4.3 and later refuse queues that are neither durable nor exclusive, so the service cannot " +
      'create them: connection error 541, feature transient_nonexcl_queues. If a queue or exchange exists with the other ' +
      "value, RabbitMQ answers 406 PRECONDITION_FAILED on argument 'durable'. It is a warning while the service still works " +
      'with its old queues. Its next start would fail.',
    causes: [
      'RabbitMQ was upgraded to 4.3 or later, or its configuration denies the feature, and the setting is missing or false.',
      'The setting was changed while the old queues still exist, or was lost in an upgrade of the chart.',
    ],
    verify: [
      'rabbitmqctl list_queues -p VHOST name durable exclusive messages consumers',
      'rabbitmqctl list_exchanges -p VHOST name durable',
      'rabbitmqctl version',
    ],
    remedies: [
      {
        text:
          'Set the service to durable queues, delete the old ones, and let the service declare them again. This command keeps ' +
          'the messages in them.',
        commands: ['testops-admin reset-queues'],
      },
      {
        text:
          "By hand: stop the service, set VENDOR_RABBIT_DURABLE to true (chart: under env.open), delete the service's " +
          'queues, start the service. Messages in the deleted queues are lost. The service declares its queues and bindings ' +
          'when it starts.',
        commands: ['rabbitmqctl delete_queue -p VHOST QUEUE'],
      },
      {
        text:
          'If the queues are durable already and only the setting is false, change the setting and restart the service. ' +
          'Leave the queues alone.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
  {
    id: 'broker/upgrade',
    kind: 'check',
    title: 'the broker can be upgraded',
    severities: ['warning'],
    meaning:
      'Transient queues still work on this version of RabbitMQ. Version 4.3 refuses them, and a single node that still has ' +
      'one does not boot after the upgrade. Nothing is broken yet: reset the queues before you upgrade the broker.',
    causes: ['VENDOR_RABBIT_DURABLE is missing or false, which was harmless before RabbitMQ 4.3.'],
    verify: [
      'rabbitmqctl version',
      'rabbitmqctl list_queues -p VHOST name durable exclusive',
      'rabbitmq-diagnostics list_deprecated_features',
    ],
    remedies: [
      {
        text:
          'Make the queues durable at a quiet hour, before the upgrade. By hand: see broker/queues-durable. You can upgrade to ' +
          'RabbitMQ 4.3 only from 4.2.',
        commands: ['testops-admin reset-queues'],
      },
    ],
    source: 'docs/facts/rabbitmq.md',
  },
  {
    id: 'broker/alarms',
    kind: 'check',
    title: 'the broker has no alarm',
    severities: ['error', 'warning'],
    meaning:
      'RabbitMQ blocks every publisher while a node is short of memory or disk. Uploads then hang, but the service looks healthy.',
    causes: [
      'Queues have grown because nobody consumes them: the service is stopped or stuck.',
      'The memory limit (vm_memory_high_watermark) or the disk of the node is too small.',
      'Something else fills the disk of RabbitMQ.',
    ],
    verify: [
      'rabbitmq-diagnostics alarms',
      'rabbitmqctl list_queues -p VHOST name messages consumers',
      'df -h /var/lib/rabbitmq',
    ],
    remedies: [
      {
        text: 'Free memory or disk space on the node. The alarm then clears by itself.',
        commands: ['df -h /var/lib/rabbitmq'],
      },
      {
        text: 'If queues have piled up, first make sure that the service consumes them again.',
        commands: ['testops-admin doctor --only service,broker'],
      },
      {
        text: 'If the limit is too low for this machine, raise it. This lasts until the node restarts.',
        commands: ['rabbitmqctl set_vm_memory_high_watermark 0.6'],
      },
    ],
    source: 'docs/reference/faults.md',
  },
]
