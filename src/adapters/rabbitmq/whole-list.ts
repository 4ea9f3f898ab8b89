import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import type { BrokerConnection } from '../../core/sources.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { Peer } from '../failure.ts'
import type { Link } from './link.ts'
import type { BrokerLists } from './lists.ts'
import { isOurs } from './own-connections.ts'

/**
 * how long lists lag at most, unless a broker is told to count more seldom than every five seconds (FIELD-NOTES.md 3)
 */
const lagMs = 7000
const pollMs = 500

/**
 * Asks for the list of connections until whoever came before this program is in it: lists lag, and have them once they
 * have ours, which came later; nodes of a cluster count each for itself, so that there the time has to pass. Throws
 * UNAVAILABLE where ours is never listed: the broker counts more seldom, or collects nothing.
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
      // one that has only just come is listed without its user at first
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
