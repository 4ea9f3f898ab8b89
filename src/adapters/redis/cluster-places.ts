import type { Redis } from 'ioredis'
import type { HostPort, SessionsEndpoint } from '../../core/endpoint.ts'
import { withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { alone, authenticate, redisCli, shared, socketTo, talk } from './client.ts'
import type { RedisSocket } from './client.ts'
import { command, nested } from '../../core/shell-command.ts'

interface Places {
  /** addresses where the client begins */
  seeds: readonly RedisSocket[]
  /** addresses to reach the nodes, by the host:port that the cluster gives them; null if these are the same */
  natMap: Record<string, RedisSocket> | null
}

/**
 * Returns where the sockets to the nodes of a cluster lead. If any node is reached through another address, asks for
 * the names of all nodes, and opens the ways to them. If no node answers, throws the error of the first of `nodes`.
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
    // an unreachable replica is no loss, since it is never asked; an unreachable master fails once it is asked
    const reached = named.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
    return { seeds: [socket], natMap: Object.fromEntries(reached) }
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    void Promise.allSettled(asked).then(() => opened.forEach((client) => client.disconnect()))
    for (const client of opened) client.disconnect()
  }
}

/** Lists all nodes that serve a part of the keys, or stand by to. */
async function namesBy(client: Redis, { user, password }: SessionsEndpoint): Promise<HostPort[]> {
  await authenticate(client, user, password)
  const slots = (await client.cluster('SLOTS')) as unknown as [number, number, ...[string | null, number][]][]
  const named = slots.flatMap(([, , ...servers]) => servers).flatMap(([host, port]) => (host ? [{ host, port }] : []))
  return [...new Map(named.map((it) => [keyOf(it), it])).values()]
}

/** Returns an address as ioredis writes it. */
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
