import { brokerUpgrade } from '../../../src/checks/broker/upgrade.ts'
import { consumer, queue, unreachable } from '../../fakes/index.ts'
import type { CheckTable } from '../table.ts'
import { broker, declared, denying, foreign, foreignReader, logs, service } from './queue-situation.ts'

export const upgradeTable: CheckTable = {
  check: brokerUpgrade,
  cases: [
    {
      situation: 'queues are durable',
      status: 'ok',
      says: ['RabbitMQ 3.13.7: 1 queue of the service, none of them transient'],
    },
    {
      situation: 'foreign transient queues lie in the vhost',
      sources: { broker: broker({ queues: [queue(), ...foreign], consumers: [consumer(), foreignReader] }) },
      status: 'ok',
    },
    {
      situation: 'an exclusive queue of the service is transient',
      sources: {
        broker: broker({
          queues: [queue(), queue({ name: 'reply-1', durable: false, exclusive: true })],
          consumers: [consumer(), consumer({ queue: 'reply-1' })],
        }),
      },
      status: 'ok',
    },
    {
      situation: 'transient queues are in use',
      sources: {
        broker: broker({ queues: [queue({ durable: false, messages: 3 })] }),
        service: service('false'),
        logs: logs(declared('testops.upload'), declared('testops.dlq')),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        '1 transient queue of the service (testops.upload): RabbitMQ 4.3 and later refuse transient queues',
        'After the upgrade, a single-node broker that still has a transient queue does not start',
        'testops.upload false false 3',
      ],
    },
    {
      situation: 'the service declares transient queues once it starts',
      sources: { broker: broker({ queues: [], consumers: [] }), service: service(undefined), logs: logs() },
      status: 'problem',
      severity: 'warning',
      says: ['the service declares transient queues'],
    },
    {
      situation: 'a broker after 4.3 permits them by configuration',
      sources: {
        broker: broker({ identity: { product: 'RabbitMQ', version: '4.3.6' }, queues: [queue({ durable: false })] }),
        service: service('false'),
      },
      status: 'problem',
      severity: 'warning',
      says: ['permits transient queues only because its configuration allows them'],
    },
    {
      situation: 'the broker denies them already',
      sources: { broker: broker(denying) },
      status: 'ok',
      says: ['RabbitMQ 4.3.5: 1 queue of the service, none of them transient'],
    },
    {
      situation: 'the broker denies them, and the vhost has lost all of its queues',
      sources: { broker: broker({ ...denying, queues: [], consumers: [] }), service: service('false'), logs: logs() },
      status: 'ok',
      says: ['RabbitMQ 4.3.5: vhost / has no queues'],
    },
    {
      situation: 'the broker denies them, and holds some that nobody is known to have declared',
      sources: {
        broker: broker({ ...denying, queues: [queue({ name: 'billing', durable: false })], consumers: [] }),
        service: service('false'),
        logs: logs(),
      },
      status: 'ok',
      says: ["RabbitMQ 4.3.5: 1 queue in vhost /; transient queues that may not be the service's: billing"],
      silentOn: ['none of them'],
    },
    {
      situation: 'the broker denies them, and still holds one of the service',
      sources: { broker: broker({ ...denying, queues: [queue({ durable: false, messages: null })] }), logs: logs() },
      status: 'problem',
      severity: 'warning',
      says: [
        '1 transient queue of the service (testops.upload): RabbitMQ 4.3.5 refuses transient queues\. A ' +
          'single-node broker that still has a transient queue does not start',
        'testops.upload false false (not counted yet)',
      ],
    },
    {
      situation: "which queues are the service's cannot be told yet",
      sources: {
        broker: broker({ queues: [queue(), ...foreign], consumers: [] }),
        service: service('true'),
        logs: logs(),
      },
      status: 'skipped',
      says: ['cannot tell which of the '],
    },
    {
      situation: 'the broker is down',
      sources: { broker: unreachable('broker') },
      status: 'unknown',
      because: 'broker/reachable',
    },
  ],
}
