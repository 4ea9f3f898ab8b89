import type { ExplainEntry } from './entry.ts'

export const brokerEntries: readonly ExplainEntry[] = [
  {
    id: 'broker/reachable',
    kind: 'check',
    title: 'broker answers',
    severities: ['error'],
    meaning:
      'The service hands work to itself through queues on RabbitMQ, above all the results that agents upload. Without ' +
      'the broker uploads are not processed. Deployments that use SQS have no RabbitMQ: then nothing is checked.',
    causes: [
      'RabbitMQ is stopped, still starting, or refuses to boot.',
      'Host, port or virtual host is wrong, or a firewall stands between.',
      'User or password is wrong, or the user has no permission on the virtual host.',
      'After an upgrade to 4.3: a node that still holds a transient queue does not boot once such queues are denied ' +
        '(failed_to_deny_deprecated_features in its log).',
    ],
    verify: ['rabbitmq-diagnostics check_running', 'rabbitmqctl list_vhosts', 'rabbitmqctl authenticate_user USER'],
    remedies: [
      {
        text: 'Start RabbitMQ, and read its log where it will not start.',
        commands: ['systemctl status rabbitmq-server', 'systemctl start rabbitmq-server'],
      },
      {
        text: 'Where its log says failed_to_deny_deprecated_features, a transient queue keeps it from booting. This shows the way out, step by step.',
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
      "vendor's own). RabbitMQ from 4.3 on refuses queues that are neither durable nor exclusive, so the service cannot " +
      'create them: connection error 541, feature transient_nonexcl_queues. And where a queue or exchange exists with ' +
      "the other value than the service asks for, RabbitMQ answers 406 PRECONDITION_FAILED on argument 'durable'. It is " +
      'a warning while the service still works with its old queues, and would fail at its next start.',
    causes: [
      'RabbitMQ was upgraded to 4.3 or later, or denies the feature by configuration, and the setting is absent or ' + 'false.',
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
          'Set the service to durable queues, delete the old ones and let the service declare them anew. Messages in them ' +
          'are kept by this command.',
        commands: ['testops-admin reset-queues'],
      },
      {
        text:
          "By hand: stop the service, set VENDOR_RABBIT_DURABLE to true (chart: under env.open), delete the service's " +
          'queues, start the service. Messages in deleted queues are lost; queues and bindings come back by themselves when ' +
          'the service starts.',
        commands: ['rabbitmqctl delete_queue -p VHOST QUEUE'],
      },
      {
        text:
          'Where the queues are durable already and only the setting is false, change the setting and restart the service; ' +
          'leave the queues alone.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
  {
    id: 'broker/upgrade',
    kind: 'check',
    title: 'nothing stands in the way of upgrading the broker',
    severities: ['warning'],
    meaning:
      'Transient queues still work on this version of RabbitMQ, but from 4.3 on it refuses them, and a node that still ' +
      'holds one does not boot after the upgrade. Nothing is broken yet; reset the queues before the broker is ' +
      'upgraded.',
    causes: ['VENDOR_RABBIT_DURABLE is absent or false, which was harmless before RabbitMQ 4.3.'],
    verify: [
      'rabbitmqctl version',
      'rabbitmqctl list_queues -p VHOST name durable exclusive',
      'rabbitmq-diagnostics list_deprecated_features',
    ],
    remedies: [
      {
        text:
          'Make the queues durable, at a quiet hour and before the upgrade (by hand: see broker/queues-durable). RabbitMQ 4.3 ' +
          'can only be reached from 4.2.',
        commands: ['testops-admin reset-queues'],
      },
    ],
    source: 'docs/facts/rabbitmq.md',
  },
  {
    id: 'broker/alarms',
    kind: 'check',
    title: 'broker raises no alarm',
    severities: ['error', 'warning'],
    meaning:
      'RabbitMQ blocks everybody who publishes while a node is short of memory or disk. Uploads then hang, while the ' +
      'service looks healthy.',
    causes: [
      'Queues have grown because nobody consumes them: the service is stopped, or stuck.',
      'The memory limit (vm_memory_high_watermark) or the disk of the node is too small.',
      'Something else fills the disk that RabbitMQ writes to.',
    ],
    verify: [
      'rabbitmq-diagnostics alarms',
      'rabbitmqctl list_queues -p VHOST name messages consumers',
      'df -h /var/lib/rabbitmq',
    ],
    remedies: [
      { text: 'Free room or memory on the node; the alarm goes off by itself.', commands: ['df -h /var/lib/rabbitmq'] },
      {
        text: 'Where queues have piled up, see to it first that the service consumes them again.',
        commands: ['testops-admin doctor --only service,broker'],
      },
      {
        text: 'Raise the limit where it is set too low for this machine. This lasts until the node restarts.',
        commands: ['rabbitmqctl set_vm_memory_high_watermark 0.6'],
      },
    ],
    source: 'docs/reference/faults.md',
  },
]
