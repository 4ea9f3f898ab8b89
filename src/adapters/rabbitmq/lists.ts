import { setTimeout as sleep } from 'node:timers/promises'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerConnection, BrokerSource, QueueCounts } from '../../core/sources.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { Peer } from '../failure.ts'
import { isOurs } from './connection.ts'
import type { Link } from './link.ts'
import { refusal } from './refusal.ts'

/** The lists that the broker does not show over AMQP. */
export type BrokerLists = Pick<
  BrokerSource,
  | 'queues'
  | 'exchanges'
  | 'consumers'
  | 'deprecatedFeature'
  | 'nodes'
  | 'bindings'
  | 'policies'
  | 'connections'
  | 'connectionsOf'
  | 'tags'
  | 'permissions'
>

/** True for the nameless exchange and `amq.*`: they belong to the broker, and nobody can declare them. */
export function isPredeclared(exchange: string): boolean {
  return exchange === '' || exchange.startsWith('amq.')
}

/**
 * Returns the state of a deprecated feature, listed since 3.13 (FIELD-NOTES.md 3). 4.0 leaves the state out, so that
 * only the phase shows the default.
 */
export function deprecatedState(state: unknown, phase: unknown): 'permitted' | 'denied' | 'unknown' {
  if (state === 'permitted' || state === 'denied') return state
  return phase === 'removed' || phase === 'disconnected' ? 'denied' : 'unknown'
}

/** milliseconds that lists lag at most, if the broker counts at least every five seconds (FIELD-NOTES.md 3) */
const lagMs = 7000
const pollMs = 200

/**
 * Returns a function that asks for the list of connections until it has all that came before this program. Lists lag,
 * but are complete once they have ours, which came later. Nodes of a cluster count separately, so there the lag has to
 * pass. Throws UNAVAILABLE if ours is never listed: the broker counts less often, or collects nothing.
 */
export function wholeList(
  link: Link,
  lists: Pick<BrokerLists, 'connections' | 'nodes'>,
  { peer, user }: { peer: Peer; user: string },
): () => Promise<readonly BrokerConnection[]> {
  let since: number | null = null
  const isOwn = (it: BrokerConnection): boolean =>
    isOurs(it.name) || (it.clientName === ownConnectionName && it.user === user)
  return async () => {
    await link.each(
      [null],
      async () => undefined,
      () => undefined,
    )
    since ??= performance.now()
    const begun = performance.now()
    for (;;) {
      const late = performance.now() - since > lagMs
      const listed = await lists.connections()
      // a new connection is listed without its user at first
      const isOwnThere = listed.some(isOwn)
      if (isOwnThere && (late || (listed.every((it) => it.user !== '') && (await isAlone(lists))))) return listed
      if (late && performance.now() - begun > lagMs) throw unlisted(peer)
      await sleep(pollMs)
    }
  }
}

async function isAlone(lists: Pick<BrokerLists, 'nodes'>): Promise<boolean> {
  return (await lists.nodes()).filter(({ running }) => running).length < 2
}

function unlisted({ where }: Peer): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `RabbitMQ at ${where} does not list testops-admin's own connection, even after ${lagMs / 1000} s. Its list of ` +
      'connections is out of date or incomplete',
    ['rabbitmqctl environment | grep -e collect_statistics -e metrics   # on the broker'],
  )
}

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
