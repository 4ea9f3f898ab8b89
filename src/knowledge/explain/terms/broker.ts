import type { ExplainText } from '../entry.ts'
import { command } from '../../../core/shell-command.ts'
import { transientQueues } from '../../broker.ts'

const { feature, permitSetting } = transientQueues

/** What RabbitMQ's own log tells. */
export const brokerTerms: readonly ExplainText[] = [
  {
    id: 'broker-does-not-boot',
    kind: 'term',
    title: `RabbitMQ does not boot: failed_to_deny_deprecated_features, ${feature}`,
    severities: [],
    meaning:
      'The node still knows a transient queue (neither durable nor exclusive), and this version or its configuration denies such queues. It ' +
      'checks that before it removes them, so it stops each time. The messages in these queues are lost already: RabbitMQ drops transient ' +
      'queues, and all messages in them, whenever a node restarts. Durable queues and their messages are safe.',
    causes: [
      'RabbitMQ was upgraded from 4.2 to 4.3, which denies transient queues, while the service still had some.',
      `${permitSetting} was set to false while the service still had some. Nodes that keep their metadata in Khepri stop at this; those of 4.0 to 4.2 that keep it in Mnesia boot, without those queues.`,
      'RabbitMQ before 3.13 does not know that setting, and does not boot with it at all: "there is no setting with that name", then failed_to_prepare_configuration. Take the line out.',
    ],
    verify: [
      'journalctl -u rabbitmq-server -n 200   # or the log of its container, or pod',
      'rabbitmqctl version',
      command`grep -rn ${feature} /etc/rabbitmq`,
    ],
    remedies: [
      {
        text: '1. Stop the service, so that it does not declare transient queues again.',
        commands: ['testops-admin service stop'],
      },
      {
        text:
          `2. On every node, put this line into rabbitmq.conf (chart: its extra configuration). If there is one that says false, change it. RabbitMQ 4.3.0 and 4.3.1 ` +
          'ignore it: install a later 4.3 first. RabbitMQ before 3.13 does not know it: there, take the line out instead.',
        commands: [command`${permitSetting} = true`],
      },
      {
        text:
          '3. Start the broker. It boots and drops the transient queues. RabbitMQ 4.0 on Khepri may stop once at error:badarg, in rabbit_registry: start it again. ' +
          'Check that only durable queues are left.',
        commands: ['systemctl start rabbitmq-server', 'rabbitmqctl list_queues -p VHOST name durable messages'],
      },
      {
        text: '4. Set VENDOR_RABBIT_DURABLE to true and start the service. This command does both: with no transient queues left, it only changes the setting and restarts the service.',
        commands: ['testops-admin reset-queues'],
      },
      {
        text: '5. Take the line out again on every node where you put it in, and restart the broker. The service reconnects by itself, and its queues stay.',
        commands: ['systemctl restart rabbitmq-server', 'testops-admin doctor --only broker'],
      },
      {
        text: '6. Results that were uploaded but not yet processed were in those queues: have those launches uploaded again.',
        commands: [],
      },
    ],
    source: 'docs/facts/rabbitmq.md',
    messages: [
      'failed_to_deny_deprecated_features',
      "can't deny deprecated feature because it is actively used",
      `${permitSetting}, but there is no setting with that name`,
      `unknown variable: ${permitSetting}`,
      'failed_to_prepare_configuration',
      'error:badarg ets:lookup/2 args: [rabbit_registry,{exchange,topic}]',
    ],
    words: [
      'rabbitmq does not boot after its upgrade to 4.3',
      'rabbitmq не запускается после обновления',
      'broker node crashes at start because of deprecated transient queues',
    ],
    see: ['broker/upgrade', 'transient-ahead', 'broker/queues-durable'],
  },
]
