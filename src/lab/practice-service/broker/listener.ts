import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel, SocketOptions } from 'amqplib'
import { connect } from 'amqplib'
import { codeOf, messageOf } from '../../../core/error.ts'
import { transientQueues } from '../../../knowledge/broker.ts'
import type { Log, Throwable } from '../log/log.ts'
import { summary, throwable } from '../log/log.ts'
import type { ServiceSettings } from '../settings.ts'
import type { Topology } from './topology.ts'
import { topology } from './topology.ts'

interface BrokerConnection {
  version: string
  createChannel(): Promise<Channel>
  /** resolves with the reason once the connection has ended in any way */
  ended: Promise<Error>
  /** can safely run twice */
  close(): Promise<void>
}

/** Connects under the name of Spring AMQP's Java client. Aborting `cut` destroys the socket in any state. */
async function openConnection(settings: ServiceSettings['broker'], cut: AbortSignal): Promise<BrokerConnection> {
  const { host, port, vhost, user, password } = settings
  const socket: SocketOptions & { signal: AbortSignal } = {
    timeout: 60_000,
    signal: cut,
    clientProperties: { connection_name: 'rabbitConnectionFactory#0', product: 'RabbitMQ', platform: 'Java' },
  }
  const connection = await connect(
    { protocol: 'amqp', hostname: host, port, vhost, username: user, password: password.reveal(), heartbeat: 60 },
    socket,
  )
  let reason: Error | null = null
  connection.on('error', (error: Error) => (reason = error))
  // amqplib does not treat a close by an operator as an error: it comes with the close event
  const ended = new Promise<Error>((resolve) => {
    connection.on('close', (error?: Error) => resolve(reason ?? error ?? new Error('connection was closed')))
  })
  return {
    version: String(connection.connection.serverProperties.version),
    createChannel: async () => {
      const channel = await connection.createChannel()
      // the call's promise rejects with the reason too; without a listener the event would end the process
      channel.on('error', () => undefined)
      return channel
    },
    ended,
    close: () => connection.close().catch(() => undefined),
  }
}

const admin = 'org.springframework.amqp.rabbit.core.RabbitAdmin'

/**
 * Declares exchanges, queues and bindings in this order, and stops at the first refusal, as Spring's RabbitAdmin does.
 */
async function declare(
  channel: Channel,
  { exchanges, queues, bindings }: Topology,
  durable: boolean,
  log: Log,
): Promise<void> {
  if (!durable) {
    for (const { name } of exchanges) log.info(admin, transientExchange(name))
    for (const { name } of queues) log.info(admin, transientQueue(name))
  }
  for (const { name, type } of exchanges) await channel.assertExchange(name, type, { durable, autoDelete: false })
  for (const { name, arguments: values } of queues)
    await channel.assertQueue(name, { durable, autoDelete: false, exclusive: false, arguments: values })
  for (const { exchange, queue, routingKey } of bindings) await channel.bindQueue(queue, exchange, routingKey)
}

function transientExchange(name: string): string {
  return (
    `Auto-declaring a non-durable or auto-delete Exchange (${name}) durable:false, auto-delete:false. ` +
    'It will be deleted by the broker if it shuts down, and can be redeclared by closing and reopening the connection.'
  )
}

function transientQueue(name: string): string {
  return (
    `Auto-declaring a non-durable, auto-delete, or exclusive Queue (${name}) ` +
    'durable:false, auto-delete:false, exclusive:false. It will be redeclared if the broker stops and is restarted ' +
    'while the connection factory is alive, but all messages will be lost.'
  )
}

/** A refusal as the broker sent it, read from amqplib's error. */
interface Refusal {
  scope: 'channel' | 'connection'
  code: number
  text: string
  classId: number
  methodId: number
}

/** Reads amqplib's error, `… 406 (PRECONDITION-FAILED) with message "…"`; null if the broker sent no refusal. */
function refusalOf(error: unknown): Refusal | null {
  const parts = /(\d{3}) \([A-Z-]+\) with message "([^]*)"/.exec(messageOf(error))
  if (!parts || !messageOf(error).endsWith('"')) return null
  const scope = /^Connection closed/.test(messageOf(error)) ? 'connection' : 'channel'
  const field = (name: 'classId' | 'methodId'): number | null => {
    const value = error instanceof Error && name in error ? (error as Error & Record<typeof name, unknown>)[name] : null
    return typeof value === 'number' ? value : null
  }
  const code = Number(parts[1])
  // amqplib does not report them if the connection was closed; 541 answers a queue.declare
  const [classId, methodId] = code === transientQueues.replyCode ? [50, 10] : [0, 0]
  return { scope, code, text: parts[2]!, classId: field('classId') ?? classId, methodId: field('methodId') ?? methodId }
}

/** Returns `channel error; protocol method: #method<channel.close>(reply-code=406, reply-text=…, class-id=50, …)`. */
function shutdownMessage({ scope, code, text, classId, methodId }: Refusal): string {
  const fields = `reply-code=${code}, reply-text=${text}, class-id=${classId}, method-id=${methodId}`
  return `${scope} error; protocol method: #method<${scope}.close>(${fields})`
}

/** Returns the exception that Spring AMQP throws if the broker is unreachable or refuses. */
function amqpException(error: unknown, host: string): Throwable {
  const refusal = refusalOf(error)
  if (/ACCESS.REFUSED/.test(messageOf(error))) {
    const text =
      'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.'
    return throwable(
      'org.springframework.amqp.AmqpAuthenticationException',
      `com.rabbitmq.client.AuthenticationFailureException: ${text}`,
      springFrames,
      throwable('com.rabbitmq.client.AuthenticationFailureException', text, []),
    )
  }
  if (refusal) {
    const shutdown = throwable('com.rabbitmq.client.ShutdownSignalException', shutdownMessage(refusal), [
      'com.rabbitmq.utility.ValueOrException.getValue(ValueOrException.java:66)',
      'com.rabbitmq.client.impl.AMQChannel.privateRpc(AMQChannel.java:310)',
    ])
    return throwable(
      'org.springframework.amqp.AmqpIOException',
      'java.io.IOException',
      springFrames,
      throwable(
        'java.io.IOException',
        null,
        ['com.rabbitmq.client.impl.AMQChannel.wrap(AMQChannel.java:140)'],
        shutdown,
      ),
    )
  }
  const cause = socketException(error, host)
  return throwable(
    'org.springframework.amqp.AmqpConnectException',
    `${cause.type}: ${cause.message}`,
    springFrames,
    cause,
  )
}

const springFrames = [
  'org.springframework.amqp.rabbit.connection.CachingConnectionFactory.createConnection' +
    '(CachingConnectionFactory.java:704)',
]

function socketException(error: unknown, host: string): Throwable {
  const code = codeOf(error)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return throwable('java.net.UnknownHostException', host, [])
  if (/timed? ?out/i.test(messageOf(error)))
    return throwable('java.net.SocketTimeoutException', 'Connect timed out', [])
  if (code === 'ECONNREFUSED')
    return throwable('java.net.ConnectException', 'Connection refused', [
      'java.base/sun.nio.ch.Net.pollConnect(Native Method)',
    ])
  return throwable('java.io.IOException', messageOf(error).split('\n')[0]!, [])
}

const factory = 'org.springframework.amqp.rabbit.connection.CachingConnectionFactory'
const container = 'org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer'

export type BrokerState =
  | { status: 'connecting' }
  | { status: 'up'; version: string }
  | { status: 'down'; error: string }

export interface BrokerListener {
  state(): BrokerState
  /** resolves once the first attempt has succeeded or failed */
  attempted: Promise<void>
  stop(): Promise<void>
}

/**
 * Connects, declares and consumes as Spring AMQP does. Retries every `retryMs` if that fails or the connection is lost,
 * and declares everything again on each connection. Acknowledges every message.
 */
export function listenToBroker(settings: ServiceSettings['broker'], retryMs: number, log: Log): BrokerListener {
  const here = log.from('ntContainer#0-1')
  const stopping = new AbortController()
  // destroys the socket in any state of the connection
  const cutting = new AbortController()
  let state: BrokerState = { status: 'connecting' }
  let opened: BrokerConnection | null = null
  let noteAttempt: () => void = () => undefined
  const attempted = new Promise<void>((resolve) => (noteAttempt = resolve))

  /** Runs one connection until it ends, then throws the reason. */
  const connectOnce = async (): Promise<never> => {
    here.info(factory, `Attempting to connect to: [${settings.host}:${settings.port}]`)
    const connection = await openConnection(settings, cutting.signal)
    opened = connection
    here.info(
      factory,
      `Created new connection: rabbitConnectionFactory:0/SimpleConnection [delegate=${delegate(settings)}]`,
    )
    try {
      const channel = await connection.createChannel()
      await declare(channel, topology, settings.durable, here)
      await channel.prefetch(250)
      const cancelled = new Promise<Error>((resolve) => {
        channel.on('close', () => resolve(new Error('channel was closed')))
        for (const { name } of topology.queues.filter(({ consumed }) => consumed)) {
          const take = (message: Parameters<Parameters<typeof channel.consume>[1]>[0]): void => {
            if (message) channel.ack(message)
            else resolve(new Error(`Cancel received for consumer of queue ${name}`))
          }
          channel.consume(name, take).catch(resolve)
        }
      })
      state = { status: 'up', version: connection.version }
      noteAttempt()
      throw await Promise.race([cancelled, connection.ended])
    } catch (error) {
      // the broker's reason for closing the whole connection arrives as a separate event (SERVERS.md, RabbitMQ)
      const hidden = /Channel ended|channel (was )?closed/i.test(messageOf(error))
      throw hidden ? await Promise.race([connection.ended, sleep(500, error)]) : error
    } finally {
      opened = null
      await connection.close()
    }
  }

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await connectOnce()
      } catch (error) {
        if (stopping.signal.aborted) break
        state = { status: 'down', error: summary(complain(error)) }
        noteAttempt()
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        if (!stopping.signal.aborted)
          here.info(container, 'Restarting Consumer: tags=[[]], channel=null, acknowledgeMode=AUTO local queue size=0')
      }
    }
  }

  const complain = (error: unknown): ReturnType<typeof amqpException> => {
    const refusal = refusalOf(error)
    const thrown = amqpException(error, settings.host)
    if (refusal) here.error(factory, `Shutdown Signal: ${shutdownMessage(refusal)}`)
    here.error(container, 'Failed to check/redeclare auto-delete queue(s).', thrown)
    const advice = 'Consumer raised exception, processing can restart if the connection factory supports it.'
    here.warn(container, `${advice} Exception summary: ${summary(thrown)}`)
    return thrown
  }

  const running = loop()
  return {
    state: () => state,
    attempted,
    stop: async () => {
      stopping.abort()
      if (opened) await Promise.race([opened.close(), sleep(2000, undefined, { ref: false })])
      cutting.abort()
      await running
    },
  }
}

function delegate({ user, host, port, vhost }: ServiceSettings['broker']): string {
  return `amqp://${user}@${host}:${port}/${vhost === '/' ? '' : vhost}`
}
