import { codeOf, messageOf } from '../../../core/error.ts'
import { transientQueues } from '../../../knowledge/broker.ts'
import { throwable } from '../log/throwable.ts'
import type { Throwable } from '../log/throwable.ts'

/** A refusal as the broker sent it, read from amqplib's error. */
export interface Refusal {
  scope: 'channel' | 'connection'
  code: number
  text: string
  classId: number
  methodId: number
}

/** Reads amqplib's error, `… 406 (PRECONDITION-FAILED) with message "…"`; null if the broker sent no refusal. */
export function refusalOf(error: unknown): Refusal | null {
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
export function shutdownMessage({ scope, code, text, classId, methodId }: Refusal): string {
  const fields = `reply-code=${code}, reply-text=${text}, class-id=${classId}, method-id=${methodId}`
  return `${scope} error; protocol method: #method<${scope}.close>(${fields})`
}

/** Returns the exception that Spring AMQP throws if the broker is unreachable or refuses. */
export function amqpException(error: unknown, host: string): Throwable {
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
  'org.springframework.amqp.rabbit.connection.CachingConnectionFactory.createConnection(CachingConnectionFactory.java:704)',
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
