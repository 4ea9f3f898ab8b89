import { defineCheck } from '../../core/check.ts'
import { deniesTransientQueues, transientQueues } from '../../knowledge/broker.ts'
import { queueSituation } from '../support/broker-queues.ts'
import { rabbitmqctl } from '../support/evidence.ts'
import { counted, listed } from '../support/format.ts'

export const brokerUpgrade = defineCheck({
  id: 'broker/upgrade',
  title: 'nothing stands in the way of upgrading the broker',
  reads: ['broker', 'service'],
  wants: ['logs'],
  remedy: {
    text: `Make the queues durable before the broker is upgraded to ${transientQueues.firstDenied}.`,
    commands: ['testops-admin reset-queues -d {deployment}'],
    risk: 'The service is down meanwhile.',
  },
  async run({ broker, service, logs }, deployment) {
    const { refusal, queues, setting, version } = await queueSituation(broker, service, logs, deployment)
    if (refusal.denied) return { status: 'ok', detail: `RabbitMQ ${version} refuses transient queues, so none is left` }
    const transient = queues.filter(({ queue }) => !queue.durable).map(({ queue }) => queue)
    const willDeclare = !setting.durable && queues.every(({ queue }) => !queue.durable)
    if (transient.length === 0 && !willDeclare)
      return { status: 'ok', detail: `RabbitMQ ${version}; the service has no transient queue` }
    const what =
      transient.length > 0
        ? `${counted(transient.length, 'transient queue')} of the service (${listed(transient.map(({ name }) => name))})`
        : 'the service declares transient queues'
    const next =
      deniesTransientQueues(version) === true
        ? `RabbitMQ ${version} permits them by configuration alone, and a later major version refuses them`
        : `RabbitMQ from ${transientQueues.firstDenied} on refuses them, and a single node that still holds one does not boot after the upgrade`
    const evidence = [
      rabbitmqctl(broker.vhost, 'list_queues name durable exclusive messages'),
      ...(transient.length > 0
        ? transient.slice(0, 5).map(({ name, messages }) => `${name} false false ${messages}`)
        : ['(none of the service)']),
      `${setting.shown} (${service.commands.settings})`,
      'rabbitmqctl version',
      version,
    ]
    return { status: 'problem', severity: 'warning', findings: [{ message: `${what}: ${next}`, evidence }] }
  },
})
