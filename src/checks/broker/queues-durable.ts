import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy } from '../../core/check.ts'
import type { BrokerSource, LogRecord, LogsSource, ServiceSource } from '../../core/sources.ts'
import { transientQueues } from '../../knowledge/broker.ts'
import { durableConflicts, logSignatures } from '../../knowledge/log-signatures.ts'
import { besides, lookedAt, queueSituation } from '../../domain/queues/broker-queues.ts'
import type { QueueSituation } from '../../domain/queues/broker-queues.ts'
import { byHand } from '../../domain/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { grepLog, onBroker, rabbitmqctl, settingLines } from '../../domain/evidence.ts'
import { counted, firstLine, listed } from '../../core/format.ts'
import { had } from '../../domain/wanted.ts'

/** What findings are made from. */
interface View {
  situation: QueueSituation
  broker: BrokerSource
  service: ServiceSource
  logs: LogsSource | null
  /** True if the service reads its queues and met no refusal since its start: its settings were changed meanwhile */
  works: boolean
}

export const brokerQueuesDurable = defineCheck({
  id: 'broker/queues-durable',
  title: 'queues are durable',
  reads: ['broker', 'service'],
  wants: ['logs'],
  explains: ['broker/upgrade', ...serviceFails],
  async run({ broker, service, logs }, deployment): Promise<Outcome> {
    const situation = await queueSituation(broker, service, logs, deployment)
    const view: View = { situation, broker, service, logs: had(logs), works: isAtWork(situation) }
    const [first, ...others] = [...mismatches(view), ...refusals(view)]
    if (first) {
      const severity = view.works ? 'warning' : 'error'
      return { status: 'problem', severity, findings: [first, ...others], remedy: remedyFor(situation) }
    }
    const { all, setting, refusal, untold } = situation
    if (untold !== null) return { status: 'skipped', reason: untold }
    const held = `${lookedAt(situation, broker.vhost)}${all.length > 0 ? ', declared as the settings say' : ''}`
    const foreign = setting.durable ? besides(situation) : ''
    const permitted = `transient queues are ${refusal.denied ? 'refused' : 'permitted'}`
    return { status: 'ok', detail: `${held}${foreign}; ${setting.shown}; ${permitted}` }
  },
})

function isAtWork({ queues, refused, exchanges }: QueueSituation): boolean {
  const wasRefused = refused.transient !== null || refused.conflict !== null || exchanges.length > 0
  return !wasRefused && queues.some(({ consumed }) => consumed)
}

/** Returns the remedy. If all is durable but the setting, it touches no queue. */
function remedyFor({ setting: { name, durable }, queues, exchanges }: QueueSituation): Remedy {
  const isTransient = queues.some(({ queue }) => !queue.durable) || exchanges.some(({ exchange }) => !exchange.durable)
  if (!durable && !isTransient && queues.length + exchanges.length > 0) {
    return {
      text:
        `Set ${name}=true in {settings} and restart the service. \`testops-admin reset-queues\` does both. It leaves ` +
        'the queues alone, because they are already durable.',
      commands: ['testops-admin reset-queues -d {deployment}', byHand('broker/queues-durable')],
      risk: 'The service restarts.',
    }
  }
  return {
    text:
      'Make the setting and the queues agree. The repair stops the service, changes the setting, recreates the ' +
      'queues together with their messages, and starts the service.',
    commands: ['testops-admin reset-queues -d {deployment}', byHand('broker/queues-durable')],
    risk: 'The service is down during the repair.',
  }
}

/** Finds queues and exchanges whose `durable` differs from what the service asks for: 406 (FIELD-NOTES.md 3). */
function mismatches(view: View): Finding[] {
  const { situation, broker, service, works } = view
  const { queues, exchanges, setting, refused } = situation
  const isConflict = (line: string): boolean => durableConflicts(line).length > 0
  return [true, false].flatMap((wanted): Finding[] => {
    const wrong = queues.filter((it) => it.wanted === wanted && it.queue.durable !== wanted)
    const wrongExchanges = exchanges.filter((it) => it.wanted === wanted)
    const count = wrong.length + wrongExchanges.length
    if (count === 0) return []
    const what = [
      ...(wrong.length > 0
        ? [`${counted(wrong.length, 'queue')} (${listed(wrong.map(({ queue }) => queue.name))})`]
        : []),
      ...(wrongExchanges.length > 0
        ? [
            `${counted(wrongExchanges.length, 'exchange')} ` +
              `(${listed(wrongExchanges.map(({ exchange }) => exchange.name))})`,
          ]
        : []),
    ].join(' and ')
    const refusal =
      `${works ? 'will refuse' : 'refuses'} the service's declaration with 406 ` +
      `PRECONDITION_FAILED${works ? ' when the service starts again' : ''}`
    const message =
      `${what} in vhost ${broker.vhost} ${count === 1 ? 'has' : 'have'} durable=${String(!wanted)}, but the ` +
      `service asks for durable=${String(wanted)}. The broker ${refusal}`
    const evidence = [
      ...(wrong.length > 0
        ? [
            rabbitmqctl(broker, 'list_queues name durable messages'),
            ...wrong.slice(0, 5).map(({ queue: { name, durable, messages }, proof }) => {
              return `${name} ${String(durable)} ${messages ?? '(not counted yet)'} (${proof})`
            }),
          ]
        : []),
      ...(wrongExchanges.length > 0
        ? [
            rabbitmqctl(broker, 'list_exchanges name durable'),
            ...wrongExchanges.slice(0, 5).map(({ exchange }) => `${exchange.name} ${String(exchange.durable)}`),
          ]
        : []),
      ...settingLines(service, setting.name, setting.shown),
      ...logged(view, refused.conflict, isConflict, 'PRECONDITION_FAILED'),
    ]
    return [{ message, evidence }]
  })
}

/** Finds transient queues that the service declares and the broker refuses: 541 (FIELD-NOTES.md 3). */
function refusals(view: View): Finding[] {
  const { situation, broker, service } = view
  const { refusal, setting, refused, queues, missing, version } = situation
  if (!refusal.denied) return []
  const conflicts = queues.some(({ queue, wanted }) => queue.durable !== wanted)
  const asks = refused.transient !== null || (!setting.durable && !conflicts)
  if (!asks) return []
  const names = missing.length > 0 ? ` (${listed(missing)})` : ''
  const message =
    `RabbitMQ ${version} at ${broker.target} refuses the transient queues${names} that the service declares: ` +
    `feature ${transientQueues.feature} is denied`
  const isRefusal = (line: string): boolean => logSignatures.transientRefused.test(line)
  const evidence = [
    onBroker(broker, 'rabbitmq-diagnostics list_deprecated_features'),
    `${transientQueues.feature}: ${refusal.why}`,
    ...settingLines(service, setting.name, setting.shown),
    ...logged(view, refused.transient, isRefusal, transientQueues.feature),
  ]
  return [{ message, evidence }]
}

/** Returns the line of the log that shows a refusal, and the command that finds it. */
function logged({ logs }: View, record: LogRecord | null, holds: (line: string) => boolean, sought: string): string[] {
  if (logs === null || record === null) return []
  return [grepLog(logs, sought), firstLine(record.text.split('\n').find(holds) ?? record.text, 300)]
}
