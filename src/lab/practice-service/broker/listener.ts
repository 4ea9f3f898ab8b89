import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../core/error.ts'
import type { Log } from '../log/log.ts'
import { summary } from '../log/throwable.ts'
import type { ServiceSettings } from '../settings.ts'
import { openConnection } from './connection.ts'
import type { BrokerConnection } from './connection.ts'
import { declare } from './declare.ts'
import { amqpException, refusalOf, shutdownMessage } from './exceptions.ts'
import { topology } from './topology.ts'

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
