import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy, Severity } from '../../core/check.ts'
import type { BrokerSource, ServiceSource } from '../../core/sources.ts'
import { transientQueues } from '../../knowledge/broker.ts'
import { durableConflicts, logSignatures } from '../../knowledge/log-signatures.ts'
import { queueSituation } from '../support/broker-queues.ts'
import type { QueueSituation } from '../support/broker-queues.ts'
import { rabbitmqctl } from '../support/evidence.ts'
import { counted, firstLine, listed } from '../support/format.ts'

const resetQueues: Remedy = {
  text: 'Make the setting and the queues agree: the service is stopped, the setting is set, the queues are declared anew with their messages, the service is started.',
  commands: ['testops-admin reset-queues -d {deployment}'],
  risk: 'The service is down meanwhile.',
}

export const brokerQueuesDurable = defineCheck({
  id: 'broker/queues-durable',
  title: 'queues are durable',
  reads: ['broker', 'service'],
  wants: ['logs'],
  explains: [
    'broker/upgrade',
    'service/running',
    'api/reachable',
    'api/token',
    'api/token-lifetime',
    'api/latency',
    'trees/migrated',
  ],
  remedy: resetQueues,
  async run({ broker, service, logs }, deployment): Promise<Outcome> {
    const situation = await queueSituation(broker, service, logs, deployment)
    const findings = [...mismatches(situation, broker, service), ...refusals(situation, broker, service)]
    const [first, ...others] = findings
    if (first) return { status: 'problem', severity: severityOf(situation), findings: [first, ...others] }
    const { queues, setting, refusal } = situation
    const held =
      queues.length === 0
        ? 'no queue of the service is there'
        : `${counted(queues.length, 'queue')} of the service as it asks for`
    return { status: 'ok', detail: `${held}; ${setting.shown}; transient queues are ${refusal.denied ? 'refused' : 'permitted'}` }
  },
})

/** A service that reads its queues and met no refusal since its start works still: its settings were changed meanwhile. */
function severityOf({ queues, refused, exchanges }: QueueSituation): Severity {
  const works =
    queues.some(({ consumed }) => consumed) && refused.transient === null && refused.conflict === null && exchanges.length === 0
  return works ? 'warning' : 'error'
}

/** Queues and exchanges that exist with another `durable` than the service asks for: 406 (FIELD-NOTES.md 3). */
function mismatches(
  { queues, exchanges, setting, refused }: QueueSituation,
  broker: BrokerSource,
  service: ServiceSource,
): Finding[] {
  const log =
    refused.conflict === null
      ? []
      : [
          service.commands.logs,
          firstLine(
            lineOf(refused.conflict.text, (line) => durableConflicts(line).length > 0),
            300,
          ),
        ]
  const said = `${setting.shown} (${service.commands.settings})`
  return [true, false].flatMap((wanted): Finding[] => {
    const wrong = queues.filter((it) => it.wanted === wanted && it.queue.durable !== wanted)
    const wrongExchanges = exchanges.filter((it) => it.wanted === wanted)
    if (wrong.length === 0 && wrongExchanges.length === 0) return []
    const what = [
      ...(wrong.length > 0 ? [`${counted(wrong.length, 'queue')} (${listed(wrong.map(({ queue }) => queue.name))})`] : []),
      ...(wrongExchanges.length > 0
        ? [`${counted(wrongExchanges.length, 'exchange')} (${listed(wrongExchanges.map(({ exchange }) => exchange.name))})`]
        : []),
    ].join(' and ')
    const count = wrong.length + wrongExchanges.length
    const message = `${what} in vhost ${broker.vhost} ${count === 1 ? 'has' : 'have'} durable=${String(!wanted)}, the service asks for durable=${String(wanted)}: the broker refuses with 406 PRECONDITION_FAILED`
    const evidence = [
      ...(wrong.length > 0
        ? [
            rabbitmqctl(broker.vhost, 'list_queues name durable messages'),
            ...wrong.slice(0, 5).map(({ queue, proof }) => `${queue.name} ${String(queue.durable)} ${queue.messages} (${proof})`),
          ]
        : []),
      ...(wrongExchanges.length > 0
        ? [
            rabbitmqctl(broker.vhost, 'list_exchanges name durable'),
            ...wrongExchanges.slice(0, 5).map(({ exchange }) => `${exchange.name} ${String(exchange.durable)}`),
          ]
        : []),
      said,
      ...log,
    ]
    return [{ message, evidence }]
  })
}

/** Transient queues that the service declares and the broker refuses: 541 (FIELD-NOTES.md 3). */
function refusals(
  { refusal, setting, refused, queues, missing, version }: QueueSituation,
  broker: BrokerSource,
  service: ServiceSource,
): Finding[] {
  if (!refusal.denied) return []
  const conflicts = queues.some(({ queue, wanted }) => queue.durable !== wanted)
  const asks = refused.transient !== null || (!setting.durable && !conflicts)
  if (!asks) return []
  const names = missing.length > 0 ? ` (${listed(missing)})` : ''
  const message = `RabbitMQ ${version} at ${broker.target} refuses the transient queues${names} that the service declares: feature ${transientQueues.feature} is denied`
  const line =
    refused.transient === null
      ? []
      : [
          service.commands.logs,
          firstLine(
            lineOf(refused.transient.text, (it) => logSignatures.transientRefused.test(it)),
            300,
          ),
        ]
  const evidence = [
    'rabbitmq-diagnostics list_deprecated_features',
    `${transientQueues.feature}: ${refusal.why}`,
    `${setting.shown} (${service.commands.settings})`,
    ...line,
  ]
  return [{ message, evidence }]
}

function lineOf(text: string, holds: (line: string) => boolean): string {
  return text.split('\n').find(holds) ?? text
}
