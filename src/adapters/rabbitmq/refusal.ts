import type { LackedPermission } from '../../core/broker-control.ts'
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
 * answer. `needs`: what the request required, if it required a topic permission.
 */
export function refusal(
  reply: Reply,
  endpoint: BrokerEndpoint,
  what: string,
  needs: readonly LackedPermission[] = [],
): AdminError {
  const { host, port, vhost, user } = endpoint
  const broker = `RabbitMQ at ${hostPort(host, port)}`
  const on = (...words: string[]): ShellCommand => typedOn(host, typed(['rabbitmqctl', ...words]))
  const { code, text } = reply
  const denied = code === 403 ? deniedIn(text, needs) : null
  if (denied) {
    const { right, object, isTopic, topicOf } = denied
    return new AdminError(
      'FORBIDDEN',
      `user ${user} has no ${right} permission on ${object} in vhost ${vhost} of ${broker} (${what})`,
      isTopic
        ? [
            on('list_topic_permissions', '-p', vhost),
            ...(topicOf === null ? [] : [on('set_topic_permissions', '-p', vhost, user, topicOf, '.*', '.*')]),
          ]
        : [on('list_permissions', '-p', vhost), on('set_permissions', '-p', vhost, user, '.*', '.*', '.*')],
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

/** What a refusal denies. */
interface Denied {
  right: string
  /** `queue 'upload'`; its name ends with dots if the broker cut it off */
  object: string
  isTopic: boolean
  /** The exchange of a topic; null: its name is cut off, or this is no topic */
  topicOf: string | null
}

/** Returns what the broker denies; null: it refuses for another reason. */
function deniedIn(text: string, needs: readonly LackedPermission[]): Denied | null {
  // before 4.0 the broker does not name the permission
  const [, right = 'sufficient', kind, rest] = /^(?:(configure|write|read) )?access to (\w+) '(.*)$/.exec(text) ?? []
  if (kind === undefined || rest === undefined) return null
  const { before: name, isCut } = upTo("' in vhost '", rest)
  if (kind !== 'topic') return { right, object: `${kind} '${name}'`, isTopic: false, topicOf: null }
  const needed = needs.find(({ topicOf }) => topicOf !== undefined)
  if (needed) return { right, object: needed.object, isTopic: true, topicOf: needed.topicOf ?? null }
  const mark = "' in exchange '"
  const at = name.lastIndexOf(mark)
  return {
    right,
    object: `topic '${at < 0 ? upTo(mark, name).before : name}'`,
    isTopic: true,
    topicOf: at < 0 || isCut ? null : name.slice(at + mark.length),
  }
}

/**
 * Returns a text up to that mark. The broker cuts a long text and ends it with dots, which may be in the middle of the
 * mark. `isCut`: they are before it.
 */
function upTo(mark: string, text: string): { before: string; isCut: boolean } {
  const at = text.indexOf(mark)
  if (at >= 0) return { before: text.slice(0, at), isCut: false }
  const left = text.replace(/\.\.\.$/, '')
  for (let length = mark.length - 1; length > 0; length -= 1)
    if (left.endsWith(mark.slice(0, length))) return { before: left.slice(0, -length), isCut: false }
  return { before: text, isCut: left !== text }
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
