import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import type { BrokerConnection } from '../../core/sources.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { Peer } from '../failure.ts'
import type { Link } from './link.ts'
import type { BrokerLists } from './lists.ts'
import { isOurs } from './own-connections.ts'

/** milliseconds that lists lag at most, if the broker counts at least every five seconds (FIELD-NOTES.md 3) */
const lagMs = 7000
const pollMs = 500

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
    `RabbitMQ at ${where} lists connections late or not at all: this program's own is missing after ${lagMs / 1000} s`,
    ['rabbitmqctl environment | grep -e collect_statistics -e metrics   # on the broker'],
  )
}
