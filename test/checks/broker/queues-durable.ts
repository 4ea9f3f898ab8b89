import { brokerQueuesDurable } from '../../../src/checks/broker/queues-durable.ts'
import { AdminError } from '../../../src/core/error.ts'
import { ago, consumer, fakeService, queue, record, settings, unreachable } from '../../fakes/index.ts'
import type { CheckTable } from '../table.ts'
import {
  before,
  broker,
  conflict,
  declared,
  denying,
  foreign,
  foreignReader,
  logs,
  now,
  refused,
  running10,
  service,
} from './queue-situation.ts'
import { problems } from './queues-durable/problems.ts'

export const queuesDurableTable: CheckTable = {
  check: brokerQueuesDurable,
  cases: [
    {
      situation: 'queues are durable',
      status: 'ok',
      says: [
        '1 queue of the service, declared as the settings say; VENDOR_RABBIT_DURABLE=true; transient queues ' +
          'are permitted',
      ],
    },
    {
      situation: 'foreign transient queues lie in the vhost',
      sources: { broker: broker({ queues: [queue(), ...foreign], consumers: [consumer(), foreignReader] }) },
      status: 'ok',
      says: [
        "1 queue of the service, declared as the settings say; transient queues that may not be the service's: " +
          'billing, billing.tmp; VENDOR',
      ],
    },
    {
      situation: 'the service has just started, and the broker lists no reader yet, of queues that are all durable',
      sources: { broker: broker({ queues: [queue(), queue({ name: 'testops.post' })], consumers: [] }) },
      status: 'ok',
      says: ['2 queues in vhost /, declared as the settings say; VENDOR'],
    },
    {
      situation: 'the broker lists no reader yet, and some queues are transient',
      sources: {
        broker: broker({ queues: [queue(), ...foreign], consumers: [] }),
        service: service('true'),
        logs: logs(),
      },
      status: 'skipped',
      says: [
        "cannot tell which of the 3 queues in vhost / are the service's: its log names no queue, and user testops " +
          'reads from no queue',
        'If the service has just started, check again in a few seconds',
      ],
    },
    {
      situation: 'the vhost is empty',
      sources: { broker: broker({ queues: [], consumers: [], exchanges: [] }) },
      status: 'ok',
      says: ['vhost / has no queues; VENDOR_RABBIT_DURABLE=true'],
    },
    {
      situation: 'old lines tell of conflicts that are over',
      sources: {
        logs: logs(
          conflict('queue', 'testops.upload', true, before),
          conflict('exchange', 'testops.events', true, before),
          refused(before),
        ),
        service: service('true'),
      },
      status: 'ok',
    },
    {
      situation: 'old lines bear times of another zone, which lie ahead',
      sources: {
        logs: logs(
          declared('testops.upload', ago(-9 * 3_600_000)),
          conflict('queue', 'testops.upload', false, ago(-9 * 3_600_000)),
          record('up', { at: before }),
          record('up', { at: now }),
        ),
        service: service('true'),
      },
      status: 'ok',
    },
    {
      situation:
        'the clock of the log is ten minutes ahead, and what was refused before the start looks as if it came after it',
      sources: {
        logs: logs(
          declared('testops.upload', ago(-60_000)),
          conflict('queue', 'testops.upload', false, ago(-60_000)),
          refused(ago(-60_000)),
          record('up', { at: ago(-590_000) }),
        ),
        service: service('true'),
      },
      status: 'ok',
    },
    {
      situation: 'lines of this start tell of a conflict that has been mended since',
      sources: { logs: logs(conflict('queue', 'testops.upload', true)), service: service('true') },
      status: 'ok',
    },
    {
      situation: 'transient queues on a broker that permits them are as asked for',
      sources: {
        broker: broker({ queues: [queue({ durable: false })] }),
        logs: logs(declared('testops.upload')),
        service: service(undefined),
      },
      status: 'ok',
      says: ['VENDOR_RABBIT_DURABLE is not set (default: false)'],
    },
    {
      situation: 'the broker denies transient queues, the service asks for durable ones',
      sources: { broker: broker(denying), service: service('true') },
      status: 'ok',
      says: ['refused'],
    },
    ...problems,
    {
      situation: 'the vendor has another prefix',
      sources: {
        broker: broker({ consumers: [] }),
        service: fakeService({
          status: running10,
          environment: settings({ VENDOR_RABBIT_DURABLE: undefined, ACME_RABBIT_DURABLE: 'true' }),
        }),
        logs: logs(conflict('queue', 'testops.upload', true)),
      },
      status: 'ok',
      says: ['ACME_RABBIT_DURABLE=true'],
    },
    {
      situation: 'the management plugin is not enabled',
      sources: {
        broker: broker({
          queues: new AdminError('UNAVAILABLE', 'the management plugin is not enabled', [
            'rabbitmq-plugins enable rabbitmq_management',
          ]),
        }),
      },
      status: 'unknown',
      code: 'UNAVAILABLE',
      says: ['rabbitmq-plugins enable rabbitmq_management'],
    },
    {
      situation: 'the broker is down',
      sources: { broker: unreachable('broker') },
      status: 'unknown',
      because: 'broker/reachable',
    },
    {
      situation: 'there is no broker',
      sources: { broker: new AdminError('NOT_CONFIGURED', 'messages go through SQS') },
      status: 'skipped',
      says: ['SQS'],
    },
  ],
}
