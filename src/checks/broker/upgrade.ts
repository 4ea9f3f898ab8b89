import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { deniesTransientQueues, transientQueues } from '../../knowledge/broker.ts'
import { besides, lookedAt, queueSituation } from '../../domain/queues/broker-queues.ts'
import type { QueueSituation } from '../../domain/queues/broker-queues.ts'
import { byHand } from '../../domain/by-hand.ts'
import { onBroker, rabbitmqctl, settingLines } from '../../domain/evidence.ts'
import { counted, listed } from '../../core/format.ts'

export const brokerUpgrade = defineCheck({
  id: 'broker/upgrade',
  title: 'the broker can be upgraded',
  reads: ['broker', 'service'],
  wants: ['logs'],
  remedy: {
    text:
      `Make the queues durable before you upgrade the broker to ${transientQueues.firstDenied}. If the broker ` +
      'already refuses transient queues, make the queues durable before you restart the broker.',
    commands: ['testops-admin reset-queues -d {deployment}', byHand('broker/queues-durable')],
    risk: 'The service is down during the repair.',
  },
  async run({ broker, service, logs }, deployment): Promise<Outcome> {
    const situation = await queueSituation(broker, service, logs, deployment)
    const { refusal, queues, setting, version, untold } = situation
    const transient = queues.filter(({ queue }) => !queue.durable).map(({ queue }) => queue)
    // a broker that refuses transient queues has none declared: that is another check's finding
    const willDeclare = !refusal.denied && !setting.durable && queues.every(({ queue }) => !queue.durable)
    if (transient.length === 0 && !willDeclare) {
      if (untold !== null) return { status: 'skipped', reason: untold }
      const others = besides(situation)
      const none = queues.length > 0 || (situation.all.length > 0 && others === '') ? ', none of them transient' : ''
      return { status: 'ok', detail: `RabbitMQ ${version}: ${lookedAt(situation, broker.vhost)}${none}${others}` }
    }
    const what =
      transient.length > 0
        ? `${counted(transient.length, 'transient queue')} of the service ` +
          `(${listed(transient.map(({ name }) => name))})`
        : 'the service declares transient queues'
    const evidence = [
      rabbitmqctl(broker, 'list_queues name durable exclusive messages'),
      ...(transient.length > 0
        ? transient.slice(0, 5).map(({ name, messages }) => `${name} false false ${messages ?? '(not counted yet)'}`)
        : ['(no queue of the service)']),
      ...settingLines(service, setting.name, setting.shown),
      onBroker(broker, 'rabbitmqctl version'),
      version,
    ]
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message: `${what}: ${outlook(situation)}`, evidence }],
    }
  },
})

/** Returns what will happen to transient queues. */
function outlook({ refusal, version }: QueueSituation): string {
  if (refusal.denied)
    return (
      `RabbitMQ ${version} refuses transient queues. A single-node broker that still has a transient queue does ` +
      'not start'
    )
  if (deniesTransientQueues(version) === true)
    return (
      `RabbitMQ ${version} permits transient queues only because its configuration allows them, and a later ` +
      'major version will refuse them'
    )
  return (
    `RabbitMQ ${transientQueues.firstDenied} and later refuse transient queues. After the upgrade, a single-node ` +
    'broker that still has a transient queue does not start'
  )
}
