import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import type { Binding } from '../../../core/broker-control.ts'
import { AdminError } from '../../../core/error.ts'
import type {
  BrokerConnection,
  BrokerConsumer,
  BrokerExchange,
  BrokerNode,
  BrokerPolicy,
  BrokerQueue,
} from '../../../core/sources.ts'
import { isRecord } from '../../http.ts'
import * as managed from '../items.ts'
import { figure, text } from '../items.ts'
import type { BrokerLists } from '../lists.ts'
import { deprecatedState, isPredeclared } from '../lists.ts'
import type { Item } from '../management.ts'
import type { Ctl } from './program.ts'

// names in the output of `rabbitmqctl` equal those of the management API, except for arguments and policies, and lack
// the vhost
function queue(item: Item, vhost: string): BrokerQueue {
  return { ...managed.queue(item), vhost, arguments: table(item['arguments'], `queue ${text(item, 'name')}`) }
}

function exchange(item: Item, vhost: string): BrokerExchange {
  return { ...managed.exchange(item), vhost, arguments: table(item['arguments'], `exchange ${text(item, 'name')}`) }
}

function binding(item: Item): Binding {
  const [source, destination] = [text(item, 'source_name'), text(item, 'destination_name')]
  return {
    source,
    destination,
    destinationKind: item['destination_kind'] === 'exchange' ? 'exchange' : 'queue',
    routingKey: text(item, 'routing_key'),
    arguments: table(item['arguments'], `the binding of ${destination} to ${source}`),
    ...typedIn(item['arguments']),
  }
}

function policy(item: Item, isOperators: boolean): BrokerPolicy {
  const { definition } = item
  return managed.policy(
    typeof definition === 'string' ? { ...item, definition: JSON.parse(definition) as unknown } : item,
    isOperators,
  )
}

function connection(item: Item): BrokerConnection {
  const properties = Array.isArray(item['client_properties']) ? (item['client_properties'] as unknown[]) : []
  const named = properties.find((it) => Array.isArray(it) && it[0] === 'connection_name') as unknown[] | undefined
  const clientName = named?.[2]
  return {
    name: text(item, 'name'),
    clientName: typeof clientName === 'string' && clientName !== '' ? clientName : null,
    user: text(item, 'user'),
  }
}

/** Lists the nodes of a cluster. `status` comes from the node `asked`, the only one with figures. */
function nodes(cluster: Item, status: Item, asked: string | null): BrokerNode[] {
  const running = strings(cluster['running_nodes'])
  const names = [...new Set([...strings(cluster['disk_nodes']), ...strings(cluster['ram_nodes']), ...running])]
  const alarms = Array.isArray(cluster['alarms']) ? cluster['alarms'].filter(isRecord) : []
  const isRaised = (name: string, resource: string): boolean =>
    alarms.some((it) => it['node'] === name && it['resource'] === resource)
  return names.map((name) => ({
    name,
    running: running.includes(name),
    memoryAlarm: isRaised(name, 'memory'),
    diskAlarm: isRaised(name, 'disk'),
    figures: name === asked ? figuresOf(status) : null,
  }))
}

function figuresOf(status: Item): BrokerNode['figures'] {
  const memory = isRecord(status['memory']) ? status['memory'] : {}
  const total = isRecord(memory['total']) ? memory['total'] : {}
  const used = figure(total, text(memory, 'strategy'))
  const [limit, free, least] = ['vm_memory_high_watermark_limit', 'disk_free', 'disk_free_limit'].map((name) =>
    figure(status, name),
  )
  if (used === null || limit == null || free == null || least == null) return null
  return { memoryUsedBytes: used, memoryLimitBytes: limit, diskFreeBytes: free, diskLimitBytes: least }
}

/** Reads arguments, given as `[name, type, value]` each. */
function table(value: unknown, of: string): Item {
  if (!Array.isArray(value)) return {}
  const entries = (value as unknown[]).map((it): [string, unknown] => {
    const [name, type, held] = Array.isArray(it) ? (it as unknown[]) : []
    return [String(name), valueOf(type, held, of)]
  })
  return Object.fromEntries(entries)
}

/** Converters from the types of `rabbitmqctl` to amqplib's. Other types stay unknown. */
const types: Readonly<Record<string, (held: unknown) => unknown>> = {
  longstr: (held) => held,
  bool: (held) => held,
  void: () => null,
  binary: (held) => ({ '!': 'bytes', value: Buffer.from(String(held)).toString('base64') }),
  decimal: (held) => ({ '!': 'decimal', value: { places: (held as number[])[0], digits: (held as number[])[1] } }),
  table: (held) =>
    Object.fromEntries(entriesOf(held).map(([name, type, value]) => [String(name), types[String(type)]!(value)])),
  ...Object.fromEntries(
    Object.entries({
      signedint: 'int32',
      long: 'int64',
      short: 'int16',
      byte: 'int8',
      unsignedint: 'uint32',
      unsignedshort: 'uint16',
      unsignedbyte: 'uint8',
      timestamp: 'timestamp',
      double: 'double',
      float: 'float',
    }).map(([name, type]) => [name, (held: unknown): unknown => ({ '!': type, value: held })]),
  ),
}

/** Returns arguments with their types, if every type is known. */
function typedIn(value: unknown): Pick<Binding, 'typed'> {
  const names = entriesOf(value).map(([name]) => name)
  const isWhole = names.length > 0 && new Set(names).size === names.length
  return isWhole && entriesOf(value).every(([, ...it]) => isTold(it))
    ? { typed: types['table']!(value) as Record<string, unknown> }
    : {}
}

/**
 * True if a value is shown exactly. Bytes that are not text come in base64 and so look like text, and large numbers are
 * rounded.
 */
function isTold([type, held]: readonly unknown[]): boolean {
  if (type === 'table') {
    const names = entriesOf(held).map(([name]) => String(name))
    // the order of a nested table is kept, and amqplib marks types by the name `!`
    const isAsTyped =
      !names.includes('!') &&
      isDeepStrictEqual(Object.keys(Object.fromEntries(names.map((name) => [name, null]))), names)
    return isAsTyped && entriesOf(held).every(([, ...value]) => isTold(value))
  }
  if (typeof held === 'number' && Number.isInteger(held) && !Number.isSafeInteger(held)) return false
  if (type === 'decimal')
    return Array.isArray(held) && held.length === 2 && held.every((it) => Number.isInteger(it) && it >= 0)
  if (type === 'binary') return !isBase64(String(held))
  return (
    Object.hasOwn(types, String(type)) && !(type === 'longstr' && String(held).endsWith('=') && isBase64(String(held)))
  )
}

/** True if the text may be base64 of binary bytes. */
function isBase64(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  return text !== '' && bytes.toString('base64') === text && !isUtf8(bytes)
}

function entriesOf(value: unknown): unknown[][] {
  return Array.isArray(value) ? (value as unknown[]).map((it) => (Array.isArray(it) ? (it as unknown[]) : [])) : []
}

/** Converts a value. Throws for a list, which is shown as one value per type, so its content is lost. */
function valueOf(type: unknown, held: unknown, of: string): unknown {
  if (type === 'table') return table(held, of)
  if (type === 'void') return null
  // as the management API shows it
  if (type === 'decimal' && Array.isArray(held)) return Number(held.join('.'))
  if (type !== 'array') return held
  if (Array.isArray(held) && held.length === 0) return []
  throw new AdminError('UNEXPECTED_ANSWER', `rabbitmqctl cannot show all arguments of ${of}: one argument is a list`, [
    'rabbitmq-plugins enable rabbitmq_management',
  ])
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : []
}

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
    permissions: async () => managed.permissionsIn(await ctl.list('list_user_permissions', user), vhost),
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
