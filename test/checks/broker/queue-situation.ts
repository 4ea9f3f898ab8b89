import type { BrokerSource, LogRecord, LogsSource, ServiceSource } from '../../../src/core/sources.ts'
import {
  ago,
  consumer,
  fakeBroker,
  fakeLogs,
  fakeService,
  queue,
  record,
  running,
  settings,
} from '../../fakes/index.ts'

const started = ago(600_000)
export const running10 = running({
  instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: started }],
})

export function service(durable: string | undefined): ServiceSource {
  return fakeService({ status: running10, environment: settings({ VENDOR_RABBIT_DURABLE: durable }) })
}

export function logs(...records: LogRecord[]): LogsSource {
  return fakeLogs({ recent: { complete: true, records } })
}

export const now = ago(60_000)
export const before = ago(3_600_000)
export const declared = (name: string, at = now): LogRecord =>
  record(
    `RabbitAdmin : Auto-declaring a non-durable, auto-delete, or exclusive Queue (${name}) durable:false, ` +
      'auto-delete:false, exclusive:false. It will be',
    { at },
  )
export const conflict = (kind: string, name: string, wanted: boolean, at = now): LogRecord =>
  record(
    'CachingConnectionFactory : Shutdown Signal: channel error; protocol method: ' +
      "#method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - inequivalent arg 'durable' for " +
      `${kind} '${name}' in vhost '/': received '${wanted}' but current is '${!wanted}', class-id=50, ` +
      'method-id=10)',
    { at, level: 'ERROR' },
  )
export const refused = (at = now): LogRecord =>
  record(
    'CachingConnectionFactory : Shutdown Signal: connection error; reply-code=541, reply-text=INTERNAL_ERROR - ' +
      'Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore.',
    { at, level: 'ERROR' },
  )

export const foreign = [
  queue({ name: 'billing', durable: false, consumers: 1 }),
  queue({ name: 'billing.tmp', durable: false, autoDelete: true }),
]
export const foreignReader = consumer({ queue: 'billing', user: 'billing' })
export const denying: Partial<Parameters<typeof fakeBroker>[0]> = {
  identity: { product: 'RabbitMQ', version: '4.3.5' },
  deprecatedFeature: { state: 'denied', used: false },
}
export const broker = (of: Parameters<typeof fakeBroker>[0]): BrokerSource => fakeBroker(of)
