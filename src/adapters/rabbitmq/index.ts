import type { BrokerEndpoint, Opened } from '../../core/endpoint.ts'
import type { BrokerSource } from '../../core/sources.ts'
import { bare, portOf } from '../http-route.ts'
import { countsOf, wholeList } from './lists.ts'
import { brokerPeer, shakeHands } from './connection.ts'
import { brokerLink } from './link.ts'
import { brokerLists } from './two-ways.ts'
import type { ListOptions } from './two-ways.ts'

/**
 * Verifies user, password and virtual host by an AMQP handshake; asks the management API later, when needed. Throws
 * UNREACHABLE, TIMED_OUT, UNAUTHENTICATED, FORBIDDEN (no such virtual host), UNEXPECTED_ANSWER.
 */
export async function openBroker(endpoint: BrokerEndpoint, options: ListOptions): Promise<Opened<BrokerSource>> {
  const peer = brokerPeer(endpoint)
  openWayAhead(endpoint)
  const { product, version, clusterName } = await shakeHands(endpoint, peer, options.timeoutMs)
  const { lists, close } = brokerLists(endpoint, clusterName, options)
  const link = brokerLink(endpoint, peer, options.timeoutMs)
  const source: BrokerSource = {
    target: peer.where,
    vhost: endpoint.vhost,
    user: endpoint.user,
    identity: async () => ({ product, version }),
    ...lists,
    connections: wholeList(link, lists, { peer, user: endpoint.user }),
    counts: async (queues) => countsOf(link, endpoint, queues),
  }
  return {
    source,
    async close() {
      await Promise.all([close(), link.close()])
    },
  }
}

/**
 * Opens the way to the management API during the handshake, since it is asked next. Ignores a failure, which recurs
 * then.
 */
function openWayAhead({ managementUrl, reach }: BrokerEndpoint): void {
  if (managementUrl === null || !URL.canParse(managementUrl)) return
  const url = new URL(managementUrl)
  reach?.({ host: bare(url.hostname), port: portOf(url) }).catch(() => undefined)
}
