import type { BrokerEndpoint } from '../../core/endpoint.ts'
import type { QueueCounts } from '../../core/sources.ts'
import type { Link } from './link.ts'
import { refusal } from './refusal.ts'

/** Counts by a passive declaration of each queue, which is current; a list lags by seconds (FIELD-NOTES.md 3). */
export async function countsOf(
  link: Link,
  endpoint: BrokerEndpoint,
  queues: readonly string[],
): Promise<ReadonlyMap<string, QueueCounts | null>> {
  const names = [...new Set(queues)]
  const counts = await link.each<string, QueueCounts | null>(
    names,
    async (channel, name) => {
      const { messageCount, consumerCount } = await channel.checkQueue(name)
      return { ready: messageCount, consumers: consumerCount }
    },
    (reply, name) => {
      if (reply.code === 404) return null
      throw refusal(reply, endpoint, `counting queue ${name}`)
    },
  )
  return new Map(names.map((name, index) => [name, counts[index] ?? null]))
}
