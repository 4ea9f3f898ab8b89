import type {
  BrokerConnection,
  BrokerConsumer,
  BrokerExchange,
  BrokerNode,
  BrokerPermissions,
  BrokerPolicy,
  BrokerQueue,
} from '../../core/sources.ts'
import type { Binding } from '../../core/broker-control.ts'
import { isRecord } from '../http.ts'
import type { Item } from './management.ts'

/** Maps the names that the management API uses. */

export function queue(item: Item): BrokerQueue {
  return {
    name: text(item, 'name'),
    vhost: text(item, 'vhost'),
    durable: item['durable'] === true,
    autoDelete: item['auto_delete'] === true,
    exclusive: item['exclusive'] === true,
    type: text(item, 'type'),
    arguments: record(item, 'arguments'),
    messages: figure(item, 'messages'),
    consumers: figure(item, 'consumers'),
    policy: text(item, 'policy') || null,
  }
}

export function exchange(item: Item): BrokerExchange {
  return {
    name: text(item, 'name'),
    vhost: text(item, 'vhost'),
    durable: item['durable'] === true,
    autoDelete: item['auto_delete'] === true,
    internal: item['internal'] === true,
    type: text(item, 'type'),
    arguments: record(item, 'arguments'),
  }
}

export function binding(item: Item): Binding {
  return {
    source: text(item, 'source'),
    destination: text(item, 'destination'),
    destinationKind: item['destination_type'] === 'exchange' ? 'exchange' : 'queue',
    routingKey: text(item, 'routing_key'),
    arguments: record(item, 'arguments'),
    ...keyOf(item),
  }
}

/** Returns what follows the routing key in `properties_key`; without arguments, the routing key is all of it. */
function keyOf(item: Item): Pick<Binding, 'key'> {
  const key = /~([^~]*)$/.exec(text(item, 'properties_key'))?.[1]
  return key === undefined || key === '' || Object.keys(record(item, 'arguments')).length === 0 ? {} : { key }
}

export function policy(item: Item, isOperators: boolean): BrokerPolicy {
  return {
    name: text(item, 'name'),
    isOperators,
    pattern: text(item, 'pattern'),
    appliesTo: text(item, 'apply-to'),
    priority: figure(item, 'priority') ?? 0,
    definition: record(item, 'definition'),
  }
}

export function connection(item: Item): BrokerConnection {
  return { name: text(item, 'name'), clientName: text(item, 'user_provided_name') || null, user: text(item, 'user') }
}

/** `names` maps connections to the names that clients give them */
export function consumer(item: Item, names: ReadonlyMap<string, string>): BrokerConsumer {
  const of = record(item, 'queue')
  const channel = record(item, 'channel_details')
  const from = text(channel, 'connection_name')
  return {
    queue: text(of, 'name'),
    vhost: text(of, 'vhost'),
    user: text(channel, 'user'),
    connection: names.get(from) || from,
  }
}

export function node(item: Item, alarms: readonly Item[]): BrokerNode {
  const name = text(item, 'name')
  const isRaised = (resource: string): boolean =>
    alarms.some((it) => it['node'] === name && it['resource'] === resource)
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

export function isCounted(node: Item): boolean {
  return figure(node, 'mem_used') !== null
}

export function text(item: Item, name: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : ''
}

/** Returns a number; null if the broker has not counted yet, or does not count. */
export function figure(item: Item, name: string): number | null {
  const value = item[name]
  return typeof value === 'number' ? value : null
}

function record(item: Item, name: string): Item {
  const value = item[name]
  return isRecord(value) ? value : {}
}

/** Returns what a user's list of permissions has for this vhost; null: nothing. */
export function permissionsIn(items: readonly Item[], vhost: string): BrokerPermissions | null {
  const found = items.find((item) => item['vhost'] === vhost)
  if (!found) return null
  return { configure: text(found, 'configure'), write: text(found, 'write'), read: text(found, 'read') }
}
