import type { BrokerEndpoint, Opened } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerConsumer, BrokerExchange, BrokerNode, BrokerQueue, BrokerSource } from '../../core/sources.ts'
import type { Peer } from '../failure.ts'
import { isRecord } from '../http.ts'
import { shakeHands } from './handshake.ts'
import type { BrokerIdentity } from './handshake.ts'
import { brokerPeer } from './peer.ts'
import { managementApi } from './management.ts'
import type { Item, Management } from './management.ts'

/**
 * Proves user, password and virtual host by an AMQP handshake; the rest is asked of the management API when it is needed.
 * Throws UNREACHABLE, TIMED_OUT, UNAUTHENTICATED, FORBIDDEN (no such virtual host), UNEXPECTED_ANSWER.
 */
export async function openBroker(endpoint: BrokerEndpoint, { timeoutMs }: { timeoutMs: number }): Promise<Opened<BrokerSource>> {
  const peer = brokerPeer(endpoint)
  const identity = await shakeHands(endpoint, peer, timeoutMs)
  const management = managementApi(
    { ...endpoint, managementUrl: endpoint.managementUrl?.replace(/\/+$/, '') ?? null },
    timeoutMs,
  )
  return { source: brokerSource(endpoint, peer, identity, management), close: async () => management.close() }
}

function brokerSource(endpoint: BrokerEndpoint, peer: Peer, identity: BrokerIdentity, management: Management): BrokerSource {
  const vhost = encodeURIComponent(endpoint.vhost)
  return {
    target: peer.where,
    vhost: endpoint.vhost,
    user: endpoint.user,
    identity: async () => identity,
    queues: async () => (await management.pages(`/api/queues/${vhost}`, queueColumns, 'management')).map(queue),
    exchanges: async () =>
      (await management.pages(`/api/exchanges/${vhost}`, exchangeColumns, 'management'))
        .map(exchange)
        .filter(({ name }) => !isPredeclared(name)),
    async consumers() {
      const [consumers, connections] = await Promise.all([
        management.list(`/api/consumers/${vhost}`, 'management'),
        management.pages(`/api/vhosts/${vhost}/connections`, ['name', 'user_provided_name'], 'monitoring').catch(noneIfForbidden),
      ])
      const names = new Map(connections.map((connection) => [text(connection, 'name'), text(connection, 'user_provided_name')]))
      return consumers.map((item) => consumer(item, names))
    },
    deprecatedFeature: async (name) => deprecatedFeature(management, name),
    async nodes() {
      const nodes = await management.list('/api/nodes', 'monitoring')
      // a node that has just started is listed for some seconds without its figures, and without its alarms
      const alarms = nodes.every((item) => item['running'] !== true || isCounted(item)) ? [] : await management.alarms()
      return nodes.map((item) => node(item, alarms))
    },
  }
}

/** Without the names of others' connections, their addresses are shown. */
function noneIfForbidden(error: unknown): readonly Item[] {
  if (error instanceof AdminError && error.code === 'FORBIDDEN') return []
  throw error
}

/** The nameless exchange and `amq.*` are the broker's own; nobody can declare them. */
function isPredeclared(name: string): boolean {
  return name === '' || name.startsWith('amq.')
}

/** FIELD-NOTES.md 3: listed from 3.13 on; the state is missing in 4.0, where the phase alone shows what the default is. */
async function deprecatedFeature(management: Management, name: string): ReturnType<BrokerSource['deprecatedFeature']> {
  const [all, used] = await Promise.all([
    management.listIfAny('/api/deprecated-features', 'management'),
    management.listIfAny('/api/deprecated-features/used', 'management'),
  ])
  const feature = all?.find((item) => item['name'] === name)
  if (!all || !feature) return null
  const { state, deprecation_phase: phase } = feature
  return {
    state:
      state === 'permitted' || state === 'denied'
        ? state
        : phase === 'removed' || phase === 'disconnected'
          ? 'denied'
          : 'unknown',
    used: used === null ? null : used.some((item) => item['name'] === name),
  }
}

const queueColumns = [
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
]
const exchangeColumns = ['name', 'vhost', 'durable', 'auto_delete', 'internal', 'type']

function queue(item: Item): BrokerQueue {
  return {
    name: text(item, 'name'),
    vhost: text(item, 'vhost'),
    durable: item['durable'] === true,
    autoDelete: item['auto_delete'] === true,
    exclusive: item['exclusive'] === true,
    type: text(item, 'type'),
    arguments: isRecord(item['arguments']) ? item['arguments'] : {},
    messages: figure(item, 'messages'),
    consumers: figure(item, 'consumers'),
    policy: text(item, 'policy') || null,
  }
}

function exchange(item: Item): BrokerExchange {
  return {
    name: text(item, 'name'),
    vhost: text(item, 'vhost'),
    durable: item['durable'] === true,
    autoDelete: item['auto_delete'] === true,
    internal: item['internal'] === true,
    type: text(item, 'type'),
  }
}

function consumer(item: Item, names: ReadonlyMap<string, string>): BrokerConsumer {
  const of = isRecord(item['queue']) ? item['queue'] : {}
  const channel = isRecord(item['channel_details']) ? item['channel_details'] : {}
  const connection = text(channel, 'connection_name')
  return {
    queue: text(of, 'name'),
    vhost: text(of, 'vhost'),
    user: text(channel, 'user'),
    connection: names.get(connection) || connection,
  }
}

function node(item: Item, alarms: readonly Item[]): BrokerNode {
  const name = text(item, 'name')
  const isRaised = (resource: string): boolean => alarms.some((it) => it['node'] === name && it['resource'] === resource)
  return {
    name,
    running: item['running'] === true,
    memoryAlarm: item['mem_alarm'] === true || isRaised('memory'),
    diskAlarm: item['disk_free_alarm'] === true || isRaised('disk'),
    figures: isCounted(item)
      ? {
          memoryUsedBytes: figure(item, 'mem_used') ?? 0,
          memoryLimitBytes: figure(item, 'mem_limit') ?? 0,
          diskFreeBytes: figure(item, 'disk_free') ?? 0,
          diskLimitBytes: figure(item, 'disk_free_limit') ?? 0,
        }
      : null,
  }
}

function isCounted(node: Item): boolean {
  return figure(node, 'mem_used') !== null
}

function text(item: Item, name: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : ''
}

/** Null where the broker has not counted yet, or does not count. */
function figure(item: Item, name: string): number | null {
  const value = item[name]
  return typeof value === 'number' ? value : null
}
