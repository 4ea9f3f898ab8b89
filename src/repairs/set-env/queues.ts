import { queueSituation } from '../../domain/queues/broker-queues.ts'
import { rabbitmqctl } from '../../domain/evidence.ts'
import { counted, listed } from '../../core/format.ts'
import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { BrokerSource, LogsSource, ServiceSource } from '../../core/sources.ts'
import { alwaysDurable } from '../../knowledge/broker.ts'

interface Read {
  broker: Wanted<BrokerSource>
  service: ServiceSource
  logs: Wanted<LogsSource>
}

/** Returns the risk that queues do not fit what the service will request (SPEC.md 7, last row on the broker). */
export async function queuesWouldDiffer(
  { broker, service, logs }: Read,
  deployment: Deployment,
  durable: boolean,
): Promise<{ risk?: Risk; note?: string }> {
  if (broker instanceof AdminError) return { note: `cannot tell whether the existing queues fit: ${broker.message}` }
  try {
    const { queues, all } = await queueSituation(broker, service, logs, deployment)
    const own = queues.length > 0
    const others = (own ? queues.map(({ queue }) => queue) : all)
      .filter((queue) => queue.durable !== durable && !alwaysDurable.includes(queue.type))
      .map(({ name }) => name)
    if (others.length === 0) return {}
    const what = !own
      ? `cannot tell which queues in vhost ${broker.vhost} are the service's. ${others.length} of ${counted(all.length, 'queue')} ${others.length === 1 ? 'is' : 'are'} ${durable ? 'transient' : 'durable'}: ${listed(others)}`
      : `${counted(others.length, 'queue')} of the service ${others.length === 1 ? 'is' : 'are'} ${durable ? 'transient' : 'durable'}: ${listed(others)}`
    return {
      risk: {
        name: 'queues-mismatch',
        message: `${what}. After this change, the service asks for ${durable ? 'durable' : 'transient'} queues and fails on ${durable ? 'transient' : 'durable'} ones.`,
        proof: [
          ...(durable
            ? ['testops-admin reset-queues -d {deployment}   # sets it and makes the queues fit, with their messages']
            : []),
          rabbitmqctl(broker, 'list_queues name durable messages'),
        ],
      },
    }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED')
      return { note: `cannot tell whether the existing queues fit: ${error.message}` }
    throw error
  }
}
