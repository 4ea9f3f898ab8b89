import type { Redis } from 'ioredis'
import type { HostPort, SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Peer } from '../failure.ts'
import { hostPort, withDeadline } from '../failure.ts'
import type { RedisSocket } from './client.ts'
import { alone, authenticate, redisCli, redisFailure, shared, socketTo, talk, tlsOf } from './client.ts'

type Sentinels = NonNullable<SessionsEndpoint['sentinel']>
type Address = Sentinels['nodes'][number]

/**
 * Returns the master's address from the sentinel that answers first. Asks all at once, so that a silent one delays
 * nobody. Disconnects from all, which ioredis does not do with sentinels it asks itself. If none knows the master,
 * throws what one of them says: UNAUTHENTICATED, UNAVAILABLE (no such master), UNEXPECTED_ANSWER. Otherwise throws why
 * the first in the list says nothing: UNREACHABLE, TIMED_OUT.
 */
async function findMaster(endpoint: SessionsEndpoint, sentinels: Sentinels, timeoutMs: number): Promise<Address> {
  const { default: ioredis } = await import('ioredis')
  const over = new AbortController()
  const opened: Redis[] = []
  const answers = sentinels.nodes.map(async (node) => {
    const peer = sentinelPeer(endpoint, sentinels, node)
    const asking = async (): Promise<Address> => {
      const client = new ioredis.Redis({ ...shared(timeoutMs), ...alone, ...(await socketTo(endpoint, node)) })
      if (over.signal.aborted) throw over.signal.reason as Error
      opened.push(client)
      return talk(client, { peer, timeoutMs }, () => ask(client, sentinels, peer))
    }
    return withDeadline(asking(), timeoutMs, peer, { signal: over.signal })
  })
  try {
    return await Promise.any(answers)
  } catch (error) {
    const failures = (error as AggregateError).errors as readonly AdminError[]
    // the answer of one says more than the silence of others
    throw failures.find(({ code }) => code !== 'UNREACHABLE' && code !== 'TIMED_OUT') ?? failures[0]!
  } finally {
    over.abort()
    for (const client of opened) client.disconnect()
  }
}

async function ask(client: Redis, { master, password }: Sentinels, peer: Peer): Promise<Address> {
  await authenticate(client, null, password)
  const found = await client.call('SENTINEL', 'get-master-addr-by-name', master)
  if (!Array.isArray(found)) {
    throw new AdminError(
      'UNAVAILABLE',
      `Redis at ${peer.where} knows no master with the configured name`,
      peer.suggestions,
    )
  }
  const [host, port] = found as [string, string]
  return { host, port: Number(port) }
}

function sentinelPeer(
  { tls, reach }: SessionsEndpoint,
  { master, password }: Sentinels,
  { host, port }: Address,
): Peer {
  const client = redisCli({ user: null, password, tls }, { host, port })
  return {
    what: 'Redis',
    host,
    port,
    reach,
    where: `${hostPort(host, port)} (sentinel, master ${master})`,
    suggestions: [command`${nested(client)} SENTINEL masters`],
  }
}

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
async function clusterPlaces(
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
    const peer = nodePeer(endpoint, node)
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

function nodePeer(endpoint: SessionsEndpoint, node: HostPort): Peer {
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

export interface Connection {
  peer: Peer
  /** redis-cli command for the same server */
  client: ShellCommand
  /** the server; in a cluster each of the masters */
  servers: readonly Redis[]
  isCluster: boolean
  /** INFO of the first server, or the error that prevents it */
  info: string | AdminError
  close: () => void
}

/** least milliseconds for the master, however long the sentinels took */
const leastMs = 100

/** Connects, signs in, selects the database, and verifies that the server answers. Never reconnects by itself. */
export async function connectRedis(endpoint: SessionsEndpoint, timeoutMs: number): Promise<Connection> {
  const { cluster, sentinel } = endpoint
  if (cluster) return connectCluster(endpoint, cluster, timeoutMs)
  if (!sentinel) return connectServer(endpoint, timeoutMs)
  const since = performance.now()
  const master = await findMaster(endpoint, sentinel, timeoutMs)
  return connectServer({ ...endpoint, ...master }, Math.max(leastMs, timeoutMs - (performance.now() - since)))
}

async function connectServer(endpoint: SessionsEndpoint, timeoutMs: number): Promise<Connection> {
  const { default: ioredis } = await import('ioredis')
  const { database } = endpoint
  const peer = peerOf(endpoint)
  const server = new ioredis.Redis({ ...shared(timeoutMs), ...alone, ...(await socketTo(endpoint, endpoint)) })
  const close = (): void => server.disconnect()
  const connecting = talk(server, { peer, timeoutMs }, () => signIn(server, endpoint, peer))
  const info = await withDeadline(connecting, timeoutMs, peer, { abandon: close })
  const inDatabase = database === 0 ? '' : command` -n ${database}`
  const client = command`${nested(redisCli(endpoint, endpoint))}${nested(inDatabase)}`
  return { peer, client, servers: [server], isCluster: false, info, close }
}

async function connectCluster(
  endpoint: SessionsEndpoint,
  nodes: NonNullable<SessionsEndpoint['cluster']>,
  timeoutMs: number,
): Promise<Connection> {
  const { default: ioredis } = await import('ioredis')
  const peer = peerOf(endpoint)
  const credentials = {
    ...(endpoint.user === null ? {} : { username: endpoint.user }),
    ...(endpoint.password === null ? {} : { password: endpoint.password.reveal() }),
  }
  const places = await clusterPlaces(endpoint, nodes, timeoutMs)
  const cluster = new ioredis.Cluster([...places.seeds], {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    // each node has its share of the time, and a little more, so that the deadline is reported if all are silent
    slotsRefreshTimeout: timeoutMs / places.seeds.length + 50,
    redisOptions: { ...shared(timeoutMs), ...credentials, ...tlsOf(endpoint) },
    ...(places.natMap && { natMap: places.natMap }),
  })
  const close = (): void => cluster.disconnect()
  const connecting = talk(cluster, { peer, timeoutMs }, async () => {
    const servers = cluster.nodes('master')
    const [first] = servers
    if (!first)
      throw new AdminError('UNAVAILABLE', `Redis at ${peer.where} lists no master in its cluster`, peer.suggestions)
    for (const server of servers) server.on('error', () => undefined)
    return { servers, info: await infoOf(first, peer) }
  })
  const { servers, info } = await withDeadline(connecting.catch(untilLate), timeoutMs, peer, { abandon: close })
  return {
    peer,
    client: command`${nested(redisCli(endpoint, nodes[0] ?? endpoint))} -c`,
    servers,
    isCluster: true,
    info,
    close,
  }
}

/** Waits for our deadline, which tells more, if ioredis gives up on the last node just before it on a busy machine. */
async function untilLate(error: unknown): Promise<never> {
  if (error instanceof AdminError && /: timeout$/.test(error.message)) return new Promise<never>(() => undefined)
  throw error
}

/** Sends AUTH, SELECT and INFO in one round trip. The first refusal is the reason. */
async function signIn(
  server: Redis,
  { user, password, database }: SessionsEndpoint,
  peer: Peer,
): Promise<string | AdminError> {
  const auth = authenticate(server, user, password)
  const select = database === 0 ? Promise.resolve('OK') : server.select(database)
  const info = infoOf(server, peer)
  const [signedIn, selected] = await Promise.allSettled([auth, select, info])
  if (signedIn.status === 'rejected') throw signedIn.reason
  if (selected.status === 'rejected') throw selected.reason
  return info
}

/** Returns INFO, or the error if INFO is renamed or forbidden: the server still answers. */
async function infoOf(server: Redis, peer: Peer): Promise<string | AdminError> {
  try {
    return await server.info()
  } catch (error) {
    const failure = redisFailure(error, peer)
    if (failure.code === 'FORBIDDEN' || failure.code === 'UNAVAILABLE') return failure
    throw error
  }
}

function peerOf(endpoint: SessionsEndpoint): Peer {
  const { sentinel, cluster, database } = endpoint
  const { host, port } = cluster?.[0] ?? endpoint
  const server = redisCli(endpoint, { host, port })
  const found = sentinel ? ` (sentinel, master ${sentinel.master})` : ''
  return {
    what: 'Redis',
    host,
    port,
    reach: endpoint.reach,
    where: cluster ? `${hostPort(host, port)} (cluster)` : `${hostPort(host, port)}${found}/${database}`,
    suggestions: [cluster ? command`${nested(server)} CLUSTER INFO` : command`${nested(server)} PING`],
  }
}
