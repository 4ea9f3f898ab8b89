import type { Socket } from 'node:net'
import type { Channel, ChannelModel } from 'amqplib'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { listenersOn, typedOn } from '../../core/host.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { atMost } from '../../core/work.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { Peer } from '../failure.ts'
import {
  errorsOf,
  firstAnswer,
  hostPort,
  networkFailure,
  oneLine,
  peerFailure,
  placeOf,
  withDeadline,
} from '../failure.ts'
import { tlsOptions } from '../tls.ts'

/** milliseconds that a peer has to answer a close */
export const closingMs = 1000

/** Closes a connection whose peer may no longer answer. Never throws. */
export async function closeGently(model: ChannelModel): Promise<void> {
  await answered(async () => model.close())
  hangUp(model)
}

/** Closes a channel, even if its connection was lost and never announces the end. Never throws. */
export async function closeChannel(channel: Channel): Promise<void> {
  await answered(async () => channel.close())
}

/** Closes the socket without waiting for the peer. */
export function hangUp(model: ChannelModel): void {
  ;(model.connection as { stream?: Socket }).stream?.destroy()
}

async function answered(close: () => Promise<void>): Promise<void> {
  // `close` throws at once if the connection or channel is closed already
  await atMost(closingMs, (async () => close())(), undefined).catch(() => undefined)
}

/** sockets of this process, to any broker */
const sockets = new Set<Socket>()

/** Remembers a connection of ours for as long as it lasts. */
export function remembered<S extends Socket>(socket: S): S {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return socket
}

/**
 * True if a broker's name for a connection, `127.0.0.1:41000 -> 127.0.0.1:5672`, is one of ours. If addresses are
 * translated on the way, only the connection's own name identifies it, which the broker lists some seconds later.
 */
export function isOurs(name: string): boolean {
  return [...sockets].some(
    ({ localAddress, localPort }) =>
      localAddress !== undefined &&
      localPort !== undefined &&
      name.startsWith(`${hostPort(localAddress, localPort)} -> `),
  )
}

interface BrokerIdentity {
  product: string
  version: string
  /** Name of its cluster; null if the broker does not give it */
  clusterName: string | null
}

/**
 * Opens a connection for work with queues; `signal` ends the opening. Throws INTERRUPTED then, else as `shakeHands`.
 * Without a heartbeat, a vanished peer goes unnoticed.
 */
export async function openConnection(
  endpoint: BrokerEndpoint,
  peer: Peer,
  timeoutMs: number,
  { heartbeatSeconds = 0, signal }: { heartbeatSeconds?: number; signal?: AbortSignal } = {},
): Promise<ChannelModel> {
  const gaveUp = (): AdminError => new AdminError('INTERRUPTED', `gave up connecting to RabbitMQ at ${peer.where}`)
  if (signal?.aborted) throw gaveUp()
  let late = false
  // the socket keeps its signal when it is open
  const opening = new AbortController()
  const stop = (): void => opening.abort()
  signal?.addEventListener('abort', stop)
  const connecting = async (): Promise<ChannelModel> => {
    const model = await connect(endpoint, timeoutMs, { heartbeatSeconds, signal: opening.signal })
    if (late) await closeGently(model)
    return model
  }
  try {
    return await withDeadline(connecting(), timeoutMs, peer, { abandon: () => (late = true) })
  } catch (error) {
    if (signal?.aborted) throw gaveUp()
    throw await handshakeFailure(error, endpoint, peer, timeoutMs)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function connect(
  { host, port, user, password, vhost, tls, reach }: BrokerEndpoint,
  timeoutMs: number,
  { heartbeatSeconds = 0, signal }: { heartbeatSeconds?: number; signal?: AbortSignal } = {},
): Promise<ChannelModel> {
  const { default: amqp } = await import('amqplib')
  const encrypted = tls.mode === 'require' || tls.mode === 'verify'
  const place = await placeOf({ host, port, reach })
  const model = await amqp.connect(
    {
      protocol: encrypted ? 'amqps' : 'amqp',
      hostname: place.host,
      port: place.port,
      username: user,
      password: password?.reveal() ?? '',
      // amqplib decodes it as a part of an address
      vhost: encodeURIComponent(vhost),
      heartbeat: heartbeatSeconds,
    },
    {
      // our own deadline comes first; this one releases the socket
      timeout: timeoutMs + 100,
      noDelay: true,
      ...(signal && { signal }),
      clientProperties: { connection_name: ownConnectionName },
      ...(encrypted ? tlsOptions(host, { verify: tls.mode === 'verify', ca: tls.ca }) : {}),
    },
  )
  model.on('error', () => undefined)
  const { stream } = model.connection as { stream?: Socket }
  if (stream) remembered(stream)
  return model
}

/**
 * Signs in, reads what the broker says about itself, and closes the connection. The management API answers everything
 * else.
 */
export async function shakeHands(endpoint: BrokerEndpoint, peer: Peer, timeoutMs: number): Promise<BrokerIdentity> {
  let late = false
  const connecting = async (): Promise<BrokerIdentity> => {
    const model = await connect(endpoint, timeoutMs)
    const { product, version } = model.connection.serverProperties
    const clusterName = clusterNameOf(model)
    const closing = closeGently(model)
    if (late) await closing
    return { product, version, clusterName }
  }
  try {
    return await withDeadline(connecting(), timeoutMs, peer, { abandon: () => (late = true) })
  } catch (error) {
    throw await handshakeFailure(error, endpoint, peer, timeoutMs)
  }
}

/** Returns the name of the broker's cluster; null if the broker does not give it. */
export function clusterNameOf({ connection: { serverProperties } }: ChannelModel): string | null {
  const { cluster_name: name } = serverProperties
  return typeof name === 'string' && name !== '' ? name : null
}

async function handshakeFailure(
  thrown: unknown,
  endpoint: BrokerEndpoint,
  peer: Peer,
  timeoutMs: number,
): Promise<AdminError> {
  if (thrown instanceof AdminError) return thrown
  const network = networkFailure(thrown, peer)
  if (network) return network
  const { user, vhost, host, port } = endpoint
  const said = oneLine(messageOf(thrown))
  const make = errorsOf(thrown, peer)
  if (/ACCESS.REFUSED|\b403\b/.test(said)) {
    return make('UNAUTHENTICATED', `RabbitMQ at ${hostPort(host, port)} rejects user ${user} or this user's password`, [
      typedOn(host, 'rabbitmqctl list_users'),
      typedOn(host, command`rabbitmqctl authenticate_user ${user}`),
    ])
  }
  if (/Expected ConnectionOpenOk; got <ConnectionClose|NOT_ALLOWED|\b530\b/.test(said)) {
    return make(
      'FORBIDDEN',
      `RabbitMQ at ${hostPort(host, port)} does not let user ${user} open vhost ${vhost}. The vhost or the ` +
        'permission is missing, or a connection limit has been reached',
      [
        typedOn(host, 'rabbitmqctl list_vhosts'),
        typedOn(host, command`rabbitmqctl list_permissions -p ${vhost}`),
        typedOn(host, command`rabbitmqctl list_vhost_limits -p ${vhost}`),
      ],
    )
  }
  const header = Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1')
  const line =
    endpoint.tls.mode === 'disable' || endpoint.tls.mode === 'prefer'
      ? await firstAnswer(peer, header, Math.min(1000, timeoutMs / 4))
      : null
  if (line !== null && !line.startsWith('AMQP')) {
    return make('UNEXPECTED_ANSWER', `the server at ${hostPort(host, port)} is not RabbitMQ: it answered '${line}'`, [
      typedOn(host, listenersOn(port)),
    ])
  }
  if (/Socket closed abruptly|socket ended/i.test(said)) {
    return make(
      'UNREACHABLE',
      `the server at ${hostPort(host, port)} closed the connection during the handshake. Either RabbitMQ is ` +
        'shutting down, a proxy cut the connection, or this is not RabbitMQ',
      [...peer.suggestions, typedOn(host, listenersOn(port))],
    )
  }
  if (/SASL mechanism|Invalid frame|Frame|Expected/i.test(said)) {
    return make('UNEXPECTED_ANSWER', `cannot speak AMQP 0-9-1 with the server at ${hostPort(host, port)}: ${said}`, [
      typedOn(host, listenersOn(port)),
      ...peer.suggestions,
    ])
  }
  return peerFailure(thrown, peer)
}

/** Describes the AMQP server for error messages. */
export function brokerPeer({ host, port, vhost, reach }: BrokerEndpoint): Peer {
  return {
    what: 'RabbitMQ',
    host,
    port,
    reach,
    where: `${hostPort(host, port)}, vhost ${vhost}`,
    suggestions: [
      command`curl -sv --max-time 3 ${`telnet://${hostPort(host, port)}`} </dev/null`,
      typedOn(host, 'rabbitmq-diagnostics listeners'),
    ],
  }
}
