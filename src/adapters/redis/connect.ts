import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { typedOn } from '../../core/host.ts'
import { firstAnswer, hostPort, withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { isForeign, redisFailure } from './errors.ts'

export interface Connection {
  peer: Peer
  /** how redis-cli is called for the same */
  client: string
  /** the server; in a cluster each of the masters */
  servers: readonly Redis[]
  /** INFO of the first server, or why there is none */
  info: string | AdminError
  close: () => void
}

/** Signed in, on the right database, and proven to answer. Never connects again by itself. */
export async function connectRedis(endpoint: SessionsEndpoint, timeoutMs: number): Promise<Connection> {
  const peer = peerOf(endpoint)
  const client: { current: Redis | Cluster | null; failure: unknown } = { current: null, failure: null }
  const abandon = (): void => client.current?.disconnect()
  const connecting = async (): Promise<Connection> => {
    try {
      const { default: ioredis } = await import('ioredis')
      const opened = endpoint.cluster
        ? new ioredis.Cluster([...endpoint.cluster], {
            lazyConnect: true,
            clusterRetryStrategy: () => null,
            redisOptions: { ...shared(endpoint, timeoutMs), ...credentials(endpoint) },
          })
        : new ioredis.Redis({ ...shared(endpoint, timeoutMs), ...alone, ...address(endpoint) })
      client.current = opened
      // also what keeps a broken connection from ending the process
      opened.on('error', (error: unknown) => (client.failure ??= error))
      await opened.connect()
      const servers = 'nodes' in opened ? opened.nodes('master') : [opened]
      const [first] = servers
      if (!first) throw new AdminError('UNAVAILABLE', `Redis at ${peer.where} names no master of the cluster`, peer.suggestions)
      for (const server of servers) server.on('error', () => undefined)
      const info = 'nodes' in opened ? await infoOf(first, peer) : await signIn(first, endpoint, peer)
      return { peer, client: clientOf(endpoint, first), servers, info, close: () => opened.disconnect() }
    } catch (error) {
      // ioredis rejects with 'Connection is closed.' and tells the reason apart
      const reason = error instanceof AdminError || isReply(error) ? error : (client.failure ?? error)
      throw isForeign(reason) ? await foreign(peer, timeoutMs) : redisFailure(reason, peer)
    }
  }
  return withDeadline(connecting(), timeoutMs, peer, { abandon }).catch((error: unknown) => {
    abandon()
    throw error
  })
}

/** AUTH, SELECT and INFO in one round trip; the first that is refused is the reason. */
async function signIn(server: Redis, endpoint: SessionsEndpoint, peer: Peer): Promise<string | AdminError> {
  const password = endpoint.password?.reveal()
  const auth =
    password === undefined
      ? Promise.resolve('OK')
      : (endpoint.user === null ? server.auth(password) : server.auth(endpoint.user, password)).catch(passIfNeedless)
  const select = endpoint.database === 0 ? Promise.resolve('OK') : server.select(endpoint.database)
  const info = infoOf(server, peer)
  const [signedIn, selected] = await Promise.allSettled([auth, select, info])
  if (signedIn.status === 'rejected') throw signedIn.reason
  if (selected.status === 'rejected') throw selected.reason
  return info
}

/** A password where none is wanted is no obstacle to a diagnosis. */
function passIfNeedless(error: unknown): string {
  if (error instanceof Error && /no password is set|without any password configured/.test(error.message)) return 'OK'
  throw error
}

/** Where INFO is renamed or not allowed, the server is there all the same. */
async function infoOf(server: Redis, peer: Peer): Promise<string | AdminError> {
  try {
    return await server.info()
  } catch (error) {
    const failure = redisFailure(error, peer)
    if (failure.code === 'FORBIDDEN' || failure.code === 'UNAVAILABLE') return failure
    throw error
  }
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

async function foreign(peer: Peer, timeoutMs: number): Promise<AdminError> {
  const line = await firstAnswer(peer.host, peer.port, Buffer.from('PING\r\n'), Math.min(1000, timeoutMs / 4))
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `what listens at ${hostPort(peer.host, peer.port)} is not Redis${line === null ? '' : `: it answered '${line}'`}`,
    [typedOn(peer.host, `ss -ltnp 'sport = :${peer.port}'`)],
  )
}

/** A broken connection stays broken: nothing is sent later than it was asked for. */
const alone = { retryStrategy: () => null, enableOfflineQueue: false } as const

type SharedOptions = Pick<
  RedisOptions,
  | 'lazyConnect'
  | 'protocol'
  | 'connectTimeout'
  | 'disconnectTimeout'
  | 'reconnectOnError'
  | 'maxRetriesPerRequest'
  | 'enableReadyCheck'
  | 'autoResendUnfulfilledCommands'
  | 'disableClientInfo'
  | 'connectionName'
  | 'tls'
>

function shared(endpoint: SessionsEndpoint, timeoutMs: number): SharedOptions {
  const { mode, ca } = endpoint.tls
  return {
    lazyConnect: true,
    // RESP 2, so that servers before 6 answer too, and AUTH is a command of its own with an answer of its own
    protocol: 2,
    connectTimeout: timeoutMs,
    // what is let go is let go at once: a silent server's goodbye is not waited for
    disconnectTimeout: 0,
    reconnectOnError: null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    connectionName: 'testops-admin',
    ...(mode === 'require' || mode === 'verify'
      ? { tls: { rejectUnauthorized: mode === 'verify', ...(ca === null ? {} : { ca }) } }
      : {}),
  }
}

function credentials(endpoint: SessionsEndpoint): Pick<RedisOptions, 'username' | 'password'> {
  return {
    ...(endpoint.user === null ? {} : { username: endpoint.user }),
    ...(endpoint.password === null ? {} : { password: endpoint.password.reveal() }),
  }
}

type Address = Pick<
  RedisOptions,
  'host' | 'port' | 'sentinels' | 'name' | 'sentinelRetryStrategy' | 'sentinelPassword' | 'enableTLSForSentinelMode'
>

function address(endpoint: SessionsEndpoint): Address {
  const { sentinel } = endpoint
  if (sentinel === null) return { host: endpoint.host, port: endpoint.port }
  return {
    sentinels: [...sentinel.nodes],
    name: sentinel.master,
    sentinelRetryStrategy: () => null,
    ...(sentinel.password === null ? {} : { sentinelPassword: sentinel.password.reveal() }),
    ...(endpoint.tls.mode === 'require' || endpoint.tls.mode === 'verify' ? { enableTLSForSentinelMode: true } : {}),
  }
}

function peerOf(endpoint: SessionsEndpoint): Peer {
  const { sentinel, cluster, database } = endpoint
  const at = sentinel?.nodes[0] ?? cluster?.[0] ?? endpoint
  const server = redisCli(endpoint, at)
  const where = hostPort(at.host, at.port)
  const peer = { what: 'Redis', host: at.host, port: at.port }
  if (sentinel) {
    return {
      ...peer,
      where: `${where} (sentinel, master ${sentinel.master})/${database}`,
      suggestions: [`${server} SENTINEL get-master-addr-by-name ${sentinel.master}`],
    }
  }
  return cluster
    ? { ...peer, where: `${where} (cluster)`, suggestions: [`${server} CLUSTER INFO`] }
    : { ...peer, where: `${where}/${database}`, suggestions: [`${server} PING`] }
}

/** Sentinels only say where the store is, so the client goes where the connection went. */
function clientOf(endpoint: SessionsEndpoint, { stream }: Redis): string {
  const { sentinel, cluster, database, host, port } = endpoint
  const { remoteAddress = host, remotePort = port } = sentinel && 'remotePort' in stream ? stream : {}
  const at = cluster?.[0] ?? { host: remoteAddress, port: remotePort }
  return `${redisCli(endpoint, at)}${cluster ? ' -c' : ''}${database === 0 ? '' : ` -n ${database}`}`
}

function redisCli({ user, password, tls }: SessionsEndpoint, { host, port }: { host: string; port: number }): string {
  const encrypted = tls.mode === 'require' || tls.mode === 'verify'
  const login = password === null ? '' : `${user === null ? '' : ` --user ${user}`} --askpass`
  return `redis-cli -h ${host} -p ${port}${encrypted ? ' --tls' : ''}${login}`
}
