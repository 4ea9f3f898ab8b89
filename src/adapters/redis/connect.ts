import type { Redis } from 'ioredis'
import type { SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { hostPort, withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { alone, authenticate, redisCli, shared, socketTo, talk, tlsOf } from './client.ts'
import { clusterPlaces } from './cluster-places.ts'
import { redisFailure } from './errors.ts'
import { findMaster } from './sentinel.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

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
  const client = command`${nested(redisCli(endpoint, endpoint))}${nested(database === 0 ? '' : command` -n ${database}`)}`
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
      throw new AdminError('UNAVAILABLE', `Redis at ${peer.where} names no master of the cluster`, peer.suggestions)
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
