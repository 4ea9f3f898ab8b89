import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { ctlLists } from './ctl/index.ts'
import { ctlProgram } from './ctl/program.ts'
import type { CtlCommand } from './ctl/program.ts'
import type { BrokerLists } from './lists.ts'
import { managementApi } from './management.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import {
  binding,
  connection,
  consumer,
  exchange,
  isCounted,
  node,
  permissionsIn,
  policy,
  queue,
  text,
} from './items.ts'
import { deprecatedState, isPredeclared } from './lists.ts'
import type { Item, Management } from './management.ts'
import { isOurs } from './connection.ts'

export interface ListOptions {
  timeoutMs: number
  /** Returns the second way, when it is needed; null if there is none */
  rabbitmqctl?: (() => Promise<CtlCommand | null>) | undefined
}

/**
 * Reads lists from the management API, or from `rabbitmqctl` on the broker's machine if the API is missing or
 * unreachable from here. Throws UNAVAILABLE with both reasons if neither works.
 */
export function brokerLists(
  given: BrokerEndpoint,
  clusterName: string | null,
  { timeoutMs, rabbitmqctl }: ListOptions,
): { lists: BrokerLists; close: () => Promise<void> } {
  const endpoint = { ...given, managementUrl: given.managementUrl?.replace(/(?<!\/)\/+$/, '') ?? null }
  const management = managementApi(endpoint, timeoutMs)
  const first = managementLists(management, endpoint)
  let second: Promise<BrokerLists | null> | null = null
  let silence: AdminError | null = null
  const secondWay = async (): Promise<BrokerLists | null> => {
    second ??= (async () => {
      const command = await rabbitmqctl?.()
      return command ? ctlLists(ctlProgram(command, endpoint, clusterName, timeoutMs), endpoint) : null
    })()
    return second
  }

  const either = async <T>(ask: (lists: BrokerLists) => Promise<T>): Promise<T> => {
    const answer = silence === null ? await ask(first).then((given) => ({ given }), unreached) : silence
    if ('given' in answer) return answer.given
    const other = await secondWay().catch((why: unknown) => {
      // asked again next time: it may be ready soon
      second = null
      throw neither(answer, why)
    })
    if (other === null) throw answer
    // after one timeout, it is not asked again
    if (answer.code === 'TIMED_OUT') silence = answer
    return ask(other).catch((why: unknown) => {
      throw neither(answer, why)
    })
  }
  return {
    lists: {
      queues: async () => either(async (lists) => lists.queues()),
      exchanges: async () => either(async (lists) => lists.exchanges()),
      consumers: async () => either(async (lists) => lists.consumers()),
      bindings: async () => either(async (lists) => lists.bindings()),
      policies: async () => either(async (lists) => lists.policies()),
      connections: async () => either(async (lists) => lists.connections()),
      connectionsOf: async (user) => either(async (lists) => lists.connectionsOf(user)),
      tags: async () => either(async (lists) => lists.tags()),
      permissions: async () => either(async (lists) => lists.permissions()),
      deprecatedFeature: async (name) => either(async (lists) => lists.deprecatedFeature(name)),
      nodes: async () => either(async (lists) => lists.nodes()),
    },
    close: async () => management.close(),
  }
}

/** Returns the error if the API was not reached. Throws any other. */
function unreached(error: unknown): AdminError {
  if (error instanceof AdminError && ['UNAVAILABLE', 'UNREACHABLE', 'TIMED_OUT'].includes(error.code)) return error
  throw error
}

function neither(management: AdminError, why: unknown): AdminError {
  if (!(why instanceof AdminError)) throw why
  return new AdminError(
    'UNAVAILABLE',
    `${management.message}. rabbitmqctl cannot be used instead: ${why.message}`,
    [...management.suggestions, ...why.suggestions],
    { cause: why },
  )
}

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

/** Reads the lists of one virtual host, as this user. */
export function managementLists(
  management: Management,
  { vhost: ofVhost, user: self }: Pick<BrokerEndpoint, 'vhost' | 'user'>,
): BrokerLists {
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
    async permissions() {
      // all others are refused
      if (!(await management.tags('management')).includes('administrator')) return null
      return permissionsIn(
        await management.list(`/api/users/${encodeURIComponent(self)}/permissions`, 'management'),
        ofVhost,
      )
    },
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
