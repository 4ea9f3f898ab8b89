import type { BrokerControl } from '../../../core/broker-control.ts'
import type { BrokerEndpoint, Opened } from '../../../core/endpoint.ts'
import type { MessageMover } from '../../../core/message-mover.ts'
import { countsOf } from '../counts.ts'
import { brokerLink } from '../link.ts'
import { brokerPeer } from '../peer.ts'
import { bindAll, unbindAll } from './bindings.ts'
import { declareExchange, deleteExchange } from './exchanges.ts'
import { keeper } from './keep.ts'
import { declareQueues, deleteQueues, purge } from './queues.ts'
import { tryRights } from './rights.ts'

/** Changes a virtual host over AMQP only, so no plugin is needed. Connects on first use. */
export function openBrokerControl(
  endpoint: BrokerEndpoint,
  { timeoutMs }: { timeoutMs: number },
): Opened<BrokerControl> {
  const peer = brokerPeer(endpoint)
  const link = brokerLink(endpoint, peer, timeoutMs)
  const on = { link, endpoint }
  const kept = keeper(endpoint, peer, timeoutMs)
  let moving: Promise<Opened<MessageMover>> | null = null
  const held = async <T>(work: () => Promise<T>): Promise<T> => {
    kept.assertHeld()
    const result = await work()
    kept.assertHeld()
    return result
  }
  return {
    source: {
      target: peer.where,
      declareQueues: async (queues) => held(async () => declareQueues(on, queues)),
      deleteQueue: async (name, { most }) =>
        held(async () => (await deleteQueues(on, [{ name, most }])).get(name) ?? 'missing'),
      deleteQueues: async (queues) => held(async () => deleteQueues(on, queues)),
      declareExchange: async (exchange) => held(async () => declareExchange(on, exchange)),
      deleteExchange: async (name) => held(async () => deleteExchange(on, name)),
      bind: async (bindings) => held(async () => bindAll(on, bindings)),
      tryRights: async (of) => held(async () => tryRights(on, of)),
      unbind: async (bindings) => held(async () => unbindAll(on, bindings)),
      purge: async (name) => held(async () => purge(on, name)),
      async keep(queues) {
        const counts = await countsOf(link, endpoint, queues)
        await held(async () => kept.keep(queues.filter((name) => (counts.get(name) ?? null) !== null)))
      },
      kept: () => kept.kept(),
      heldBack: async (queue) => kept.heldBack(queue),
      release: async (queue) => held(async () => kept.release(queue)),
      async mover() {
        moving ??= import('../messages/index.ts').then(async ({ openMessageMover }) =>
          openMessageMover(endpoint, { timeoutMs }),
        )
        try {
          return (await moving).source
        } catch (error) {
          moving = null
          throw error
        }
      },
    },
    async close() {
      const mover = await moving?.catch(() => null)
      await Promise.all([link.close(), kept.close(), mover?.close()])
    },
  }
}
