import { brokerAlarms } from '../../../src/checks/broker/alarms.ts'
import { brokerReachable } from '../../../src/checks/broker/reachable.ts'
import { fakeBroker, node, nodeFigures, unreachable } from '../../fakes/index.ts'
import type { CheckTable } from '../table.ts'

export const brokerReachableTable: CheckTable = {
  check: brokerReachable,
  cases: [
    {
      situation: 'RabbitMQ answers',
      status: 'ok',
      says: ['RabbitMQ 3.13.7 at mq.example.org:5672, vhost / answers testops'],
    },
    {
      situation: 'RabbitMQ is down',
      sources: { broker: unreachable('broker') },
      status: 'problem',
      severity: 'error',
      says: ['refused the connection'],
    },
  ],
}

export const brokerAlarmsTable: CheckTable = {
  check: brokerAlarms,
  cases: [
    {
      situation: 'no alarm',
      status: 'ok',
      says: ['rabbit@mq: memory 150 MB of 3 GB used, disk 20 GB free (alarm below 50 MB)'],
    },
    {
      situation: 'a memory alarm',
      sources: {
        broker: fakeBroker({
          nodes: [node({ memoryAlarm: true, figures: nodeFigures({ memoryUsedBytes: 3_100_000_000 }) })],
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        'memory alarm on rabbit@mq: 3.1 GB used, the limit is 3 GB; publishers are blocked',
        'rabbitmq-diagnostics alarms   # on mq.example.org',
        'Give more memory to rabbit@mq, or remove',
        'rabbitmq-diagnostics -n rabbit@mq memory_breakdown   # on mq.example.org',
        'rabbitmqctl -p / list_queues name messages consumers   # on mq.example.org',
      ],
      silentOn: ['df '],
    },
    {
      situation: 'a disk alarm on one of two nodes',
      sources: {
        broker: fakeBroker({
          nodes: [
            node(),
            node({ name: 'rabbit@mq2', diskAlarm: true, figures: nodeFigures({ diskFreeBytes: 10_000_000 }) }),
          ],
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        'disk alarm on rabbit@mq2: 10 MB free, the limit is 50 MB',
        'Give more disk space to rabbit@mq2',
        'df -H /var/lib/rabbitmq   # on mq2',
      ],
      silentOn: ['memory_breakdown'],
    },
    {
      situation: 'the node has just started and has no figures yet',
      sources: { broker: fakeBroker({ nodes: [node({ figures: null })] }) },
      status: 'ok',
      says: ['rabbit@mq: the node has just started and has no figures yet, without an alarm'],
      silentOn: ['0 B'],
    },
    {
      situation: 'the node has just started, and raises an alarm',
      sources: { broker: fakeBroker({ nodes: [node({ memoryAlarm: true, figures: null })] }) },
      status: 'problem',
      severity: 'error',
      says: ['memory alarm on rabbit@mq: the node has just started and has no figures yet; publishers are blocked'],
      silentOn: ['0 B'],
    },
    {
      situation: 'one of two nodes does not run',
      sources: { broker: fakeBroker({ nodes: [node(), node({ name: 'rabbit@mq2', running: false })] }) },
      status: 'problem',
      severity: 'warning',
      says: ['broker node rabbit@mq2 is down', 'Start these nodes', 'sudo systemctl start rabbitmq-server   # on mq2'],
      silentOn: ['Give'],
    },
    {
      situation: 'RabbitMQ is down',
      sources: { broker: unreachable('broker') },
      status: 'unknown',
      because: 'broker/reachable',
    },
  ],
}
