import { AdminError } from '../../core/error.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import { binding, connection, consumer, exchange, isCounted, node, policy, queue, text } from './items.ts'
import { deprecatedState, isPredeclared } from './lists.ts'
import type { BrokerLists } from './lists.ts'
import type { Item, Management } from './management.ts'
import { isOurs } from './connection.ts'

const columns = {
  queues: [
    'name',
    'vhost',
    'durable',
    'auto_delete',
    'exclusive',
    'type',
    'arguments',
    'messages',
    'consumers',
    'policy',
  ],
  exchanges: ['name', 'vhost', 'durable', 'auto_delete', 'internal', 'type', 'arguments'],
  connections: ['name', 'user', 'user_provided_name'],
}

/** Reads the lists of one virtual host. */
export function managementLists(management: Management, ofVhost: string): BrokerLists {
  const vhost = encodeURIComponent(ofVhost)
  const pathOfConnections = `/api/vhosts/${vhost}/connections`
  const connections = async (): Promise<readonly Item[]> => {
    // without these tags, a user sees only their own connections, and is not told so
    await management.requireTag(['monitoring', 'administrator'])
    return management.pages(pathOfConnections, columns.connections, 'monitoring')
  }
  return {
    queues: async () => (await management.pages(`/api/queues/${vhost}`, columns.queues, 'management')).map(queue),
    exchanges: async () =>
      (await management.pages(`/api/exchanges/${vhost}`, columns.exchanges, 'management'))
        .map(exchange)
        .filter(({ name }) => !isPredeclared(name)),
    async consumers() {
      const [consumers, named] = await Promise.all([
        management.list(`/api/consumers/${vhost}`, 'management'),
        connections().catch(noneIfForbidden),
      ])
      const names = new Map(named.map((item) => [text(item, 'name'), text(item, 'user_provided_name')]))
      return consumers.map((item) => consumer(item, names))
    },
    bindings: async () =>
      (await management.list(`/api/bindings/${vhost}`, 'management'))
        .map(binding)
        .filter(({ source }) => source !== ''),
    async policies() {
      const [users, operators] = await Promise.all([
        management.list(`/api/policies/${vhost}`, 'management'),
        management.list(`/api/operator-policies/${vhost}`, 'management'),
      ])
      return [...users.map((item) => policy(item, false)), ...operators.map((item) => policy(item, true))]
    },
    connections: async () => (await connections()).map(connection),
    async connectionsOf(user) {
      const tracked = await management
        .listIfAny(`/api/connections/username/${encodeURIComponent(user)}`, 'management')
        .catch(nullIfStrange)
      if (tracked === null)
        return (await connections())
          .map((item) => ({ ...connection(item), isListed: true }))
          .filter((it) => it.user === user)
      const here = tracked.filter((item) => item['vhost'] === ofVhost).map((item) => text(item, 'name'))
      const unknown = here.filter((name) => !isOurs(name))
      // a user who sees no other connections still sees these
      const listed =
        unknown.length === 0
          ? []
          : (await management.pages(pathOfConnections, columns.connections, 'management')).map(connection)
      // a broker that collects no metrics lists no connections at all
      const isListing = listed.some(({ name, clientName }) => isOurs(name) || clientName === ownConnectionName)
      return here.map((name) => {
        if (isOurs(name)) return { name, user, clientName: ownConnectionName, isListed: true }
        const found = listed.find((it) => it.name === name)
        return { name, user, clientName: found?.clientName ?? null, isListed: found !== undefined || !isListing }
      })
    },
    tags: async () => management.tags('management'),
    async deprecatedFeature(name) {
      const [all, used] = await Promise.all([
        management.listIfAny('/api/deprecated-features', 'management'),
        management.listIfAny('/api/deprecated-features/used', 'management'),
      ])
      const feature = all?.find((item) => item['name'] === name)
      if (!all || !feature) return null
      return {
        state: deprecatedState(feature['state'], feature['deprecation_phase']),
        used: used === null ? null : used.some((item) => item['name'] === name),
      }
    },
    async nodes() {
      const nodes = await management.list('/api/nodes', 'monitoring')
      // a node that has just started is listed for some seconds without its figures, and without its alarms
      const alarms = nodes.every((item) => item['running'] !== true || isCounted(item)) ? [] : await management.alarms()
      return nodes.map((item) => node(item, alarms))
    },
  }
}

/**
 * Returns null where some versions (3.10.8) answer 500 if the user lacks the tag `monitoring`. The other list then
 * reports the missing tag.
 */
function nullIfStrange(error: unknown): null {
  if (error instanceof AdminError && error.code === 'UNEXPECTED_ANSWER') return null
  throw error
}

/** Returns no names of connections if they are forbidden; consumers then show addresses. */
function noneIfForbidden(error: unknown): readonly Item[] {
  if (error instanceof AdminError && error.code === 'FORBIDDEN') return []
  throw error
}
