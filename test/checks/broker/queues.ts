import { brokerQueuesDurable } from '../../../src/checks/broker/queues-durable.ts'
import { brokerUpgrade } from '../../../src/checks/broker/upgrade.ts'
import type { BrokerSource, LogRecord, LogsSource, ServiceSource } from '../../../src/core/sources.ts'
import { AdminError } from '../../../src/core/error.ts'
import {
  ago,
  consumer,
  exchange,
  fakeBroker,
  fakeLogs,
  fakeService,
  queue,
  record,
  running,
  settings,
  unreachable,
} from '../../fakes/index.ts'
import type { CheckTable } from '../table.ts'

const started = ago(600_000)
const running10 = running({ instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: started }] })

function service(durable: string | undefined): ServiceSource {
  return fakeService({ status: running10, environment: settings({ VENDOR_RABBIT_DURABLE: durable }) })
}

function logs(...records: LogRecord[]): LogsSource {
  return fakeLogs({ recent: { complete: true, records } })
}

const now = ago(60_000)
const before = ago(3_600_000)
const declared = (name: string, at = now): LogRecord =>
  record(
    `RabbitAdmin : Auto-declaring a non-durable, auto-delete, or exclusive Queue (${name}) durable:false, auto-delete:false, exclusive:false. It will be`,
    { at },
  )
const conflict = (kind: string, name: string, wanted: boolean, at = now): LogRecord =>
  record(
    `CachingConnectionFactory : Shutdown Signal: channel error; protocol method: #method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - inequivalent arg 'durable' for ${kind} '${name}' in vhost '/': received '${wanted}' but current is '${!wanted}', class-id=50, method-id=10)`,
    { at, level: 'ERROR' },
  )
const refused = (at = now): LogRecord =>
  record(
    'CachingConnectionFactory : Shutdown Signal: connection error; reply-code=541, reply-text=INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore.',
    { at, level: 'ERROR' },
  )

const foreign = [
  queue({ name: 'billing', durable: false, consumers: 1 }),
  queue({ name: 'billing.tmp', durable: false, autoDelete: true }),
]
const foreignReader = consumer({ queue: 'billing', user: 'billing' })
const denying: Partial<Parameters<typeof fakeBroker>[0]> = {
  identity: { product: 'RabbitMQ', version: '4.3.5' },
  deprecatedFeature: { state: 'denied', used: false },
}
const broker = (of: Parameters<typeof fakeBroker>[0]): BrokerSource => fakeBroker(of)

export const queuesDurableTable: CheckTable = {
  check: brokerQueuesDurable,
  cases: [
    {
      situation: 'queues are durable',
      status: 'ok',
      says: ['1 queue of the service as it asks for; VENDOR_RABBIT_DURABLE=true; transient queues are permitted'],
    },
    {
      situation: 'foreign transient queues lie in the vhost',
      sources: { broker: broker({ queues: [queue(), ...foreign], consumers: [consumer(), foreignReader] }) },
      status: 'ok',
      says: ['1 queue of the service as it asks for; transient, and not known to be its own: billing, billing.tmp; VENDOR'],
    },
    {
      situation: 'the service has just started, and the broker lists no reader yet, of queues that are all durable',
      sources: { broker: broker({ queues: [queue(), queue({ name: 'testops.post' })], consumers: [] }) },
      status: 'ok',
      says: ['2 queues in vhost / as it asks for; VENDOR'],
    },
    {
      situation: 'the broker lists no reader yet, and some queues are transient',
      sources: { broker: broker({ queues: [queue(), ...foreign], consumers: [] }), service: service('true'), logs: logs() },
      status: 'skipped',
      says: [
        "which of the 3 queues in vhost / are the service's is not known: its log names none, and the broker lists nobody who reads from them as testops",
        'lag by some seconds',
      ],
    },
    {
      situation: 'the vhost is empty',
      sources: { broker: broker({ queues: [], consumers: [], exchanges: [] }) },
      status: 'ok',
      says: ['vhost / holds no queue; VENDOR_RABBIT_DURABLE=true'],
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
      says: ['VENDOR_RABBIT_DURABLE is not set, so false'],
    },
    {
      situation: 'the broker denies transient queues, the service asks for durable ones',
      sources: { broker: broker(denying), service: service('true') },
      status: 'ok',
      says: ['refused'],
    },
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
        '1 queue (testops.upload) in vhost / has durable=true, the service asks for durable=false',
        'rabbitmqctl -p / list_queues name durable messages   # on mq.example.org',
        'testops.upload true 7',
        'grep VENDOR_RABBIT_DURABLE /etc/testops/testops.env',
        'VENDOR_RABBIT_DURABLE=false',
        'grep -F PRECONDITION_FAILED /var/log/testops/testops.log | tail -1',
        'the broker refuses that with 406 PRECONDITION_FAILED',
        'Set VENDOR_RABBIT_DURABLE=true in /etc/testops/testops.env, then restart the service: its queues are durable already',
      ],
      silentOn: ['billing', 'reset-queues'],
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
        '2 queues (testops.upload, testops.post) in vhost / have durable=false, the service asks for durable=true',
        'testops.upload false (not counted yet)',
        'testops-admin reset-queues -d prod',
        'testops-admin explain broker/queues-durable   # the same by hand',
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
      says: ["the broker will refuse that at the service's next start with 406", 'testops-admin set-env -d prod VENDOR_RABBIT_DURABLE=true'],
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
        'RabbitMQ 4.3.5 at mq.example.org:5672, vhost / refuses the transient queues (testops.upload) that the service declares',
        'transient_nonexcl_queues: the broker lists the feature as denied',
        'VENDOR_RABBIT_DURABLE is not set, so false',
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
      says: ['the broker answered so'],
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
      says: ['RabbitMQ refuses it from 4.3 on'],
    },
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

export const upgradeTable: CheckTable = {
  check: brokerUpgrade,
  cases: [
    { situation: 'queues are durable', status: 'ok', says: ['RabbitMQ 3.13.7: 1 queue of the service, none of them transient'] },
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
        '1 transient queue of the service (testops.upload): RabbitMQ from 4.3 on refuses them',
        'does not boot',
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
      says: ['permits them by configuration alone'],
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
      says: ['RabbitMQ 4.3.5: vhost / holds no queue'],
    },
    {
      situation: 'the broker denies them, and holds some that nobody is known to have declared',
      sources: {
        broker: broker({ ...denying, queues: [queue({ name: 'billing', durable: false })], consumers: [] }),
        service: service('false'),
        logs: logs(),
      },
      status: 'ok',
      says: ['RabbitMQ 4.3.5: 1 queue in vhost /; transient, and not known to be its own: billing'],
      silentOn: ['none of them'],
    },
    {
      situation: 'the broker denies them, and still holds one of the service',
      sources: { broker: broker({ ...denying, queues: [queue({ durable: false, messages: null })] }), logs: logs() },
      status: 'problem',
      severity: 'warning',
      says: [
        '1 transient queue of the service (testops.upload): RabbitMQ 4.3.5 refuses such queues, and a single node that still holds one does not boot',
        'testops.upload false false (not counted yet)',
      ],
    },
    {
      situation: "which queues are the service's cannot be told yet",
      sources: { broker: broker({ queues: [queue(), ...foreign], consumers: [] }), service: service('true'), logs: logs() },
      status: 'skipped',
      says: ["are the service's is not known"],
    },
    {
      situation: 'the broker is down',
      sources: { broker: unreachable('broker') },
      status: 'unknown',
      because: 'broker/reachable',
    },
  ],
}
