import type { Redis } from 'ioredis'
import type { HostPort, SessionsEndpoint } from '../../core/endpoint.ts'
import { withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { alone, authenticate, redisCli, shared, socketTo, talk } from './client.ts'
import type { RedisSocket } from './client.ts'
import { command, nested } from '../../core/shell-command.ts'

interface Places {
  /** where the client begins */
  seeds: readonly RedisSocket[]
  /** where the nodes are reached that the cluster names itself by, host:port; null: there */
  natMap: Record<string, RedisSocket> | null
}

/**
 * Where the sockets to the nodes of a cluster lead. Those that have to be reached in a way of their own are asked for
 * the names of all others, whose ways are opened with theirs. Throws, of the first of `nodes`, what opening it throws,
 * where none answers.
 */
export async function clusterPlaces(
  endpoint: SessionsEndpoint,
  nodes: readonly HostPort[],
  timeoutMs: number,
): Promise<Places> {
  const sockets = endpoint.reach
    ? await Promise.all(nodes.map(async (node) => socketTo(endpoint, node).catch(() => null)))
    : []
  if (sockets.every((socket, at) => socket?.host === nodes[at]?.host && socket?.port === nodes[at]?.port))
    return { seeds: nodes, natMap: null }
  const { default: ioredis } = await import('ioredis')
  const opened: Redis[] = []
  const asked = nodes.map(async (node) => {
    const socket = await socketTo(endpoint, node)
    const client = new ioredis.Redis({ ...shared(timeoutMs), ...alone, ...socket })
    opened.push(client)
    const peer = peerOf(endpoint, node)
    const names = await withDeadline(
      talk(client, { peer, timeoutMs }, async () => namesBy(client, endpoint)),
      timeoutMs,
      peer,
    )
    return { socket, names }
  })
  try {
    const { socket, names } = await Promise.any(asked)
    const named = await Promise.allSettled(
      names.map(async (name) => [keyOf(name), await socketTo(endpoint, name)] as const),
    )
    // a replica that cannot be reached is no loss: it is never asked; a master is missed when it is
    const reached = named.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
    return { seeds: [socket], natMap: Object.fromEntries(reached) }
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    void Promise.allSettled(asked).then(() => opened.forEach((client) => client.disconnect()))
    for (const client of opened) client.disconnect()
  }
}

/** All nodes that serve a part of the keys, or stand by to. */
async function namesBy(client: Redis, { user, password }: SessionsEndpoint): Promise<HostPort[]> {
  await authenticate(client, user, password)
  const slots = (await client.cluster('SLOTS')) as unknown as [number, number, ...[string | null, number][]][]
  const named = slots.flatMap(([, , ...servers]) => servers).flatMap(([host, port]) => (host ? [{ host, port }] : []))
  return [...new Map(named.map((it) => [keyOf(it), it])).values()]
}

/** As ioredis writes it. */
function keyOf({ host, port }: HostPort): string {
  return `${host}:${port}`
}

function peerOf(endpoint: SessionsEndpoint, node: HostPort): Peer {
  const { host, port } = node
  return {
    what: 'Redis',
    host,
    port,
    reach: endpoint.reach,
    where: `${keyOf(node)} (cluster)`,
    suggestions: [command`${nested(redisCli(endpoint, node))} CLUSTER INFO`],
  }
}
