import { exchange, queue, unreachable } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { before, broker, conflict, declared, denying, foreign, logs, refused, service } from '../queue-situation.ts'

/** Queues or exchanges that are not as the service asks for, and a broker that refuses what it asks for. */
export const problems: readonly Case[] = [
  {
    situation: 'queues are durable, the setting is false',
    sources: {
      broker: broker({ consumers: [], queues: [queue({ consumers: 0, messages: 7 }), ...foreign] }),
      logs: logs(declared('testops.upload'), conflict('queue', 'testops.upload', false)),
      service: service('false'),
    },
    status: 'problem',
    severity: 'error',
    says: [
      '1 queue (testops.upload) in vhost / has durable=true, but the service asks for durable=false',
      'rabbitmqctl -p / list_queues name durable messages   # on mq.example.org',
      'testops.upload true 7',
      'grep VENDOR_RABBIT_DURABLE /etc/testops/testops.env',
      'VENDOR_RABBIT_DURABLE=false',
      'grep -F PRECONDITION_FAILED /var/log/testops/testops.log | tail -1',
      "The broker refuses the service's declaration with 406 PRECONDITION_FAILED",
      'Set VENDOR_RABBIT_DURABLE=true in /etc/testops/testops.env and restart the service. ' +
        '`testops-admin reset-queues` does both. It leaves the queues alone, because they are already durable',
    ],
    silentOn: ['billing'],
  },
  {
    situation: 'queues are transient, the setting is true',
    sources: {
      broker: broker({
        consumers: [],
        queues: [
          queue({ durable: false, consumers: null, messages: null }),
          queue({ name: 'testops.post', durable: false }),
        ],
      }),
      logs: logs(
        declared('testops.upload', before),
        declared('testops.post', before),
        conflict('queue', 'testops.upload', true),
      ),
      service: service('true'),
    },
    status: 'problem',
    severity: 'error',
    says: [
      '2 queues (testops.upload, testops.post) in vhost / have durable=false, but the service asks for durable=true',
      'testops.upload false (not counted yet)',
      'testops-admin reset-queues -d prod',
      'testops-admin explain broker/queues-durable   # shows the steps to take by hand',
    ],
  },
  {
    situation: 'an exchange is transient, the setting is true',
    sources: {
      broker: broker({ queues: [], consumers: [], exchanges: [exchange({ durable: false })] }),
      logs: logs(conflict('exchange', 'testops.events', true)),
      service: service('true'),
    },
    status: 'problem',
    severity: 'error',
    says: ['1 exchange (testops.events) in vhost / has durable=false', 'list_exchanges name durable'],
  },
  {
    situation: 'the setting was changed, the service not yet restarted',
    sources: { service: service('false'), logs: logs() },
    status: 'problem',
    severity: 'warning',
    says: [
      "The broker will refuse the service's declaration with 406 PRECONDITION_FAILED when the service starts again",
      'testops-admin reset-queues -d prod',
    ],
  },
  {
    situation: 'the broker refuses the transient queues of the service',
    sources: {
      broker: broker({ ...denying, queues: [], consumers: [], exchanges: [] }),
      service: service(undefined),
      logs: logs(declared('testops.upload'), refused()),
    },
    status: 'problem',
    severity: 'error',
    says: [
      'RabbitMQ 4.3.5 at mq.example.org:5672, vhost / refuses the transient queues (testops.upload) that the ' +
        'service declares',
      'transient_nonexcl_queues: RabbitMQ lists transient queues as a deprecated feature that is not permitted',
      'VENDOR_RABBIT_DURABLE is not set (default: false)',
      'testops-admin reset-queues -d prod',
    ],
  },
  {
    situation: 'the broker refuses, and its list shows no state',
    sources: {
      broker: broker({
        identity: { product: 'RabbitMQ', version: '4.0.5' },
        deprecatedFeature: { state: 'unknown', used: null },
        queues: [],
        consumers: [],
      }),
      service: service('false'),
      logs: logs(refused()),
    },
    status: 'problem',
    severity: 'error',
    says: ["the service's log shows that the broker refused a transient queue"],
  },
  {
    situation: 'the log cannot be read, and the version alone tells',
    sources: {
      broker: broker({
        identity: { product: 'RabbitMQ', version: '4.3.0' },
        deprecatedFeature: null,
        queues: [],
        consumers: [],
      }),
      service: service('false'),
      logs: unreachable('logs'),
    },
    status: 'problem',
    severity: 'error',
    says: ['RabbitMQ refuses transient queues since 4.3'],
  },
]
