import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { typedOn } from '../../core/host.ts'
import { hostPort } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { command } from '../../core/shell-command.ts'

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
