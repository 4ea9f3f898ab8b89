import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { HostPort, SessionsEndpoint } from '../../core/endpoint.ts'
import { listenersOn, typedOn } from '../../core/host.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Peer } from '../failure.ts'
import { errorsOf, firstAnswer, hostPort, networkFailure, oneLine, peerFailure, placeOf } from '../failure.ts'
import { tlsOptions } from '../tls.ts'

/** Explains an error reply of Redis, or a broken connection, to the operator. */
export function redisFailure(thrown: unknown, peer: Peer): AdminError {
  if (thrown instanceof AdminError) return thrown
  // ioredis's error for a whole cluster hides the error of its last node
  const { lastNodeError } = thrown as { lastNodeError?: unknown }
  if (lastNodeError instanceof Error) return redisFailure(lastNodeError, peer)
  const server = `Redis at ${peer.where}`
  const said = oneLine(messageOf(thrown))
  const make = errorsOf(thrown, peer)
  if (/^NOAUTH/.test(said)) return make('UNAUTHENTICATED', `${server} asks for a password, but none is configured`)
  if (/^WRONGPASS|^ERR invalid password/.test(said))
    return make('UNAUTHENTICATED', `${server} rejected the user name or the password`)
  if (/^NOPERM/.test(said))
    return make('FORBIDDEN', `${server} denies this user a required permission: ${said}`, [
      command`redis-cli -h ${peer.host} -p ${peer.port} --askpass ACL LIST`,
    ])
  if (/^LOADING/.test(said)) return make('UNREACHABLE', `${server} is still loading its data`)
  if (/^MASTERDOWN|^CLUSTERDOWN/.test(said)) return make('UNREACHABLE', `${server} cannot serve: ${said}`)
  if (/^READONLY/.test(said) && peer.where.includes('(sentinel, '))
    return make(
      'UNAVAILABLE',
      `${server} is now a replica and accepts no writes: the sentinels have chosen another master, or will soon`,
    )
  if (/^READONLY/.test(said))
    return make(
      'REFUSED',
      `${server} is a replica and accepts no writes: set the address of its master in the configuration`,
    )
  if (/^MISCONF/.test(said))
    return make('UNAVAILABLE', `${server} accepts no writes while it cannot save its data to its disk`, [
      command`redis-cli -h ${peer.host} -p ${peer.port} --askpass INFO persistence   # shows rdb_last_bgsave_status; the
        Redis log says why saving fails`,
    ])
  if (/^NOREPLICAS/.test(said)) return make('UNAVAILABLE', `${server} accepts no writes while it has too few replicas`)
  if (/^(MOVED|ASK|TRYAGAIN) /.test(said)) return make('UNAVAILABLE', `${server} is moving its slots to other nodes`)
  if (/max number of clients reached/.test(said)) return make('EXHAUSTED', `${server} has no free connection: ${said}`)
  if (/^DENIED/.test(said))
    return make('FORBIDDEN', `${server} runs in protected mode and accepts only connections from its own machine`)
  if (/^ERR DB index is out of range|^ERR invalid DB index/.test(said))
    return make('UNAVAILABLE', `${server} has no database with the configured number`)
  const unknown = /^ERR unknown command [`']?([\w-]+)/i.exec(said)?.[1]
  if (unknown)
    return make('UNAVAILABLE', `${server} does not know the command ${unknown}: it has been renamed or disabled`)
  const network = networkFailure(thrown, peer)
  if (network) return network
  if (/connection is closed|isn't writeable|connection due to close/i.test(said))
    return make('UNREACHABLE', `${server} closed the connection`)
  return peerFailure(thrown, peer)
}

/** True if a server other than Redis answered. */
function isForeign(thrown: unknown): boolean {
  return (
    thrown instanceof Error && (thrown.name === 'ParserError' || /protocol error|unknown RESP/i.test(thrown.message))
  )
}

/** A broken connection stays broken: nothing is sent late. */
export const alone = { retryStrategy: () => null, enableOfflineQueue: false } as const

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
>

/** Returns the options of all connections, to a server, a node of a cluster or a sentinel. */
export function shared(timeoutMs: number): SharedOptions {
  return {
    lazyConnect: true,
    // RESP 2, so that servers before 6 answer too, and AUTH is a separate command with its own answer
    protocol: 2,
    connectTimeout: timeoutMs,
    // disconnects at once, without waiting for a silent server
    disconnectTimeout: 0,
    reconnectOnError: null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    connectionName: 'testops-admin',
  }
}

/** Returns where sockets to a server lead, and their encryption: also for a sentinel, as in Spring Data Redis. */
export async function socketTo(endpoint: SessionsEndpoint, { host, port }: HostPort): Promise<RedisSocket> {
  const place = await placeOf({ host, port, reach: endpoint.reach })
  return { ...place, ...tlsOf(endpoint, host) }
}

export type RedisSocket = HostPort & Pick<RedisOptions, 'tls'>

/** Returns TLS options. The certificate must be of `host`, or of the host of each socket if left out. */
export function tlsOf({ tls: { mode, ca } }: SessionsEndpoint, host?: string): Pick<RedisOptions, 'tls'> {
  if (mode !== 'require' && mode !== 'verify') return {}
  const verify = mode === 'verify'
  return {
    tls:
      host === undefined
        ? { rejectUnauthorized: verify, ...(ca === null ? {} : { ca }) }
        : tlsOptions(host, { verify, ca }),
  }
}

/** Connects and asks. Throws every failure as an error for the operator. */
export async function talk<C extends Redis | Cluster, T>(
  client: C,
  { peer, timeoutMs }: { peer: Peer; timeoutMs: number },
  ask: (client: C) => Promise<T>,
): Promise<T> {
  let failure: unknown = null
  // this listener also keeps a broken connection from ending the process
  client.on('error', (error: unknown) => (failure ??= error))
  try {
    await client.connect()
    return await ask(client)
  } catch (error) {
    // ioredis rejects with 'Connection is closed.' and reports the reason separately
    const reason = error instanceof AdminError || isReply(error) ? error : (failure ?? error)
    throw isForeign(reason) ? await foreign(peer, timeoutMs) : redisFailure(reason, peer)
  }
}

/** Signs in. Ignores a password that the server does not need, so that it does not stop a diagnosis. */
export async function authenticate(server: Redis, user: string | null, password: Secret | null): Promise<void> {
  if (password === null) return
  const revealed = password.reveal()
  try {
    await (user === null ? server.auth(revealed) : server.auth(user, revealed))
  } catch (error) {
    if (error instanceof Error && /no password is set|without any password configured/.test(error.message)) return
    throw error
  }
}

/** Returns the redis-cli command for a server; it prompts for the password. */
export function redisCli(
  { user, password, tls }: Pick<SessionsEndpoint, 'user' | 'password' | 'tls'>,
  { host, port }: { host: string; port: number },
): ShellCommand {
  const encrypted = tls.mode === 'require' || tls.mode === 'verify'
  const login = password === null ? '' : user === null ? ' --askpass' : command` --user ${user} --askpass`
  return command`redis-cli -h ${host} -p ${port}${nested(encrypted ? ' --tls' : '')}${nested(login)}`
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

async function foreign(peer: Peer, timeoutMs: number): Promise<AdminError> {
  const line = await firstAnswer(peer, Buffer.from('PING\r\n'), Math.min(1000, timeoutMs / 4))
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the server at ${hostPort(peer.host, peer.port)} is not Redis${line === null ? '' : `: it answered '${line}'`}`,
    [typedOn(peer.host, listenersOn(peer.port))],
  )
}
