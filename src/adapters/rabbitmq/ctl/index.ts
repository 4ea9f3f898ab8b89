import type { BrokerConsumer } from '../../../core/sources.ts'
import { isRecord } from '../../http.ts'
import { text } from '../items.ts'
import { deprecatedState, isPredeclared } from '../lists.ts'
import type { BrokerLists } from '../lists.ts'
import type { Item } from '../management.ts'
import { binding, connection, exchange, nodes, policy, queue, strings } from './items.ts'
import type { Ctl } from './program.ts'

const ofQueue = ['name', 'durable', 'auto_delete', 'exclusive', 'type', 'arguments', 'messages', 'consumers', 'policy']
const ofExchange = ['name', 'type', 'durable', 'auto_delete', 'internal', 'arguments']
const ofConnection = ['pid', 'name', 'user', 'vhost', 'client_properties']

/** Reads from `rabbitmqctl` what the management API shows about a virtual host. */
export function ctlLists(ctl: Ctl, { vhost, user }: { vhost: string; user: string }): BrokerLists {
  const connections = async (): Promise<readonly Item[]> =>
    (await ctl.list('list_connections', ...ofConnection)).filter((item) => item['vhost'] === vhost)
  return {
    queues: async () => (await ctl.list('list_queues', '-p', vhost, ...ofQueue)).map((item) => queue(item, vhost)),
    exchanges: async () =>
      (await ctl.list('list_exchanges', '-p', vhost, ...ofExchange))
        .map((item) => exchange(item, vhost))
        .filter(({ name }) => !isPredeclared(name)),
    async consumers() {
      const [consumers, channels, open] = await Promise.all([
        ctl.list('list_consumers', '-p', vhost),
        ctl.list('list_channels', 'pid', 'connection', 'user'),
        connections(),
      ])
      return consumers.map((item) => consumer(item, vhost, channels, open))
    },
    bindings: async () =>
      (await ctl.list('list_bindings', '-p', vhost)).map(binding).filter(({ source }) => source !== ''),
    async policies() {
      const [users, operators] = await Promise.all([
        ctl.list('list_policies', '-p', vhost),
        ctl.list('list_operator_policies', '-p', vhost),
      ])
      return [...users.map((item) => policy(item, false)), ...operators.map((item) => policy(item, true))]
    },
    connections: async () => (await connections()).map(connection),
    // read from the connections themselves, so they do not lag
    connectionsOf: async (user) =>
      (await connections()).map((item) => ({ ...connection(item), isListed: true })).filter((it) => it.user === user),
    tags: async () => strings((await ctl.list('list_users')).find((item) => item['user'] === user)?.['tags']),
    async deprecatedFeature(name) {
      const all = await ctl.listIfAny('list_deprecated_features')
      const feature = all?.find((item) => item['name'] === name)
      if (!feature) return null
      const used = await ctl.list('list_deprecated_features', '--used')
      return {
        state: deprecatedState(feature['state'], feature['deprecation_phase']),
        used: used.some((item) => item['name'] === name),
      }
    },
    async nodes() {
      const [cluster, status] = await Promise.all([ctl.show('cluster_status'), ctl.show('status')])
      const listeners = Array.isArray(status['listeners']) ? status['listeners'].filter(isRecord) : []
      return nodes(cluster, status, text(listeners[0] ?? {}, 'node') || null)
    },
  }
}

/** Converts a consumer. One whose channel has closed meanwhile is named by that channel. */
function consumer(item: Item, vhost: string, channels: readonly Item[], connections: readonly Item[]): BrokerConsumer {
  const pid = text(item, 'channel_pid')
  const channel = channels.find((it) => it['pid'] === pid)
  const from = channel && connections.find((it) => it['pid'] === channel['connection'])
  const { name, clientName } = from ? connection(from) : { name: pid, clientName: null }
  return { queue: text(item, 'queue_name'), vhost, user: text(channel ?? {}, 'user'), connection: clientName ?? name }
}
