import { connect } from 'amqplib'
import type { Channel, SocketOptions } from 'amqplib'
import type { ServiceSettings } from '../settings.ts'

export interface BrokerConnection {
  version: string
  createChannel(): Promise<Channel>
  /** resolves with the reason once the connection has ended in any way */
  ended: Promise<Error>
  /** can safely run twice */
  close(): Promise<void>
}

/** Connects under the name of Spring AMQP's Java client. Aborting `cut` destroys the socket in any state. */
export async function openConnection(settings: ServiceSettings['broker'], cut: AbortSignal): Promise<BrokerConnection> {
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
