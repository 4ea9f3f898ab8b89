import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { typedOn } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import { transientQueues } from '../../knowledge/broker.ts'
import { hostPort } from '../failure.ts'
import type { Reply } from './reply.ts'
import { sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

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
  const denied = /^(?:(configure|write|read) )?access to (\w+ '.*?') in vhost /.exec(text)
  if (code === 403 && denied) {
    const [, right = 'sufficient', object = ''] = denied
    return new AdminError(
      'FORBIDDEN',
      `user ${user} has no ${right} permission on ${object} in vhost ${vhost} of ${broker}: ${what}`,
      [on('list_permissions', '-p', vhost), on('set_permissions', '-p', vhost, user, '.*', '.*', '.*')],
    )
  }
  if (code === transientQueues.replyCode && text.includes(transientQueues.feature)) {
    return new AdminError(
      'REFUSED',
      `${broker} accepts no transient queues: ${what} (${transientQueues.feature} is denied)`,
      ['declare it durable', sentence`or set ${transientQueues.permitSetting} = true on every node`],
    )
  }
  return new AdminError('REFUSED', `${broker} refuses this in vhost ${vhost}: ${what}: ${text}`, [
    on('list_queues', '-p', vhost),
  ])
}
