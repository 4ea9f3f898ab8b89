import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { typedOn } from '../../core/host.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { sentence } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { transientQueues } from '../../knowledge/broker.ts'
import { hostPort, oneLine } from '../failure.ts'

/**
 * Explains a refusal by the broker to the operator (SERVERS.md: what it answers). Not for a refusal that is itself an
 * answer.
 */
export function refusal(reply: Reply, endpoint: BrokerEndpoint, what: string): AdminError {
  const { host, port, vhost, user } = endpoint
  const broker = `RabbitMQ at ${hostPort(host, port)}`
  const on = (...words: string[]): ShellCommand => typedOn(host, typed(['rabbitmqctl', ...words]))
  const { code, text } = reply
  // before 4.0 the broker does not name the permission
  const denied = /^(?:(configure|write|read) )?access to (\w+ '.*?)(?:' in vhost |$)/.exec(text)
  if (code === 403 && denied) {
    // the broker cuts what is long, and says so with dots
    const [, right = 'sufficient', name = ''] = denied
    const object = `${name}'`
    const before = "' in exchange '"
    const at = object.startsWith("topic '") ? object.lastIndexOf(before) : -1
    const topicOf = at < 0 ? undefined : object.slice(at + before.length, -1)
    return new AdminError(
      'FORBIDDEN',
      `user ${user} has no ${right} permission on ${object} in vhost ${vhost} of ${broker} (${what})`,
      topicOf === undefined
        ? [on('list_permissions', '-p', vhost), on('set_permissions', '-p', vhost, user, '.*', '.*', '.*')]
        : [
            on('list_topic_permissions', '-p', vhost),
            on('set_topic_permissions', '-p', vhost, user, topicOf, '.*', '.*'),
          ],
    )
  }
  if (code === transientQueues.replyCode && text.includes(transientQueues.feature)) {
    return new AdminError('REFUSED', `${broker} denies transient queues (${transientQueues.feature}): ${what}`, [
      'declare the queue durable',
      sentence`or set ${transientQueues.permitSetting} = true on every node`,
    ])
  }
  return new AdminError('REFUSED', `${broker} refuses an operation in vhost ${vhost} (${what}): ${text}`, [
    on('list_queues', '-p', vhost),
  ])
}

/** A refusal by the broker: it closes the channel, or the connection, with a number and a text. */
export interface Reply {
  code: number
  /** on one line, without the name of the code in front */
  text: string
}

/** CONNECTION_FORCED: the broker goes down, or its operator has closed the connection. */
export const connectionForced = 320

/** True if the broker closed the whole connection: another request may have caused that. */
export function isOfConnection({ code }: Reply): boolean {
  return code === connectionForced || code >= 500
}

/** Returns the broker's reply in what amqplib threw; null if the broker did not cause it. */
export function replyOf(thrown: unknown): Reply | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'number') return null
  const said = messageOf(thrown)
  const [, text = said] = (said.endsWith('"') && /with message "([^]*)"/.exec(said)) || []
  return { code: thrown.code, text: withoutCode(text) }
}

/** Returns what the broker said, on one line and without its code: 'no queue' for 'NOT_FOUND - no queue'. */
export function withoutCode(said: string): string {
  return oneLine(said.replace(/^[A-Z_]+ - /, ''))
}
