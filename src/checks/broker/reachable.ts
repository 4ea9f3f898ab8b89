import { defineCheck } from '../../core/check.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { serviceFails } from '../support/consequences.ts'
import { keptIn, server, unopened } from '../support/unopened.ts'

const kept = keptIn('broker', springSettings.rabbitHost)

export const brokerReachable = defineCheck({
  id: 'broker/reachable',
  title: 'broker answers',
  reads: ['broker'],
  guards: 'broker',
  explains: serviceFails,
  unopened: unopened('broker/reachable', {
    ...server(
      'RabbitMQ',
      { unit: 'rabbitmq-server', service: 'rabbitmq-server', unbootable: 'testops-admin explain broker/reachable' },
      kept,
    ),
    secret: 'broker',
    tls: { scheme: "the broker's address (amqp:// is plain, amqps:// is encrypted)", key: 'broker: {ca: FILE}' },
    said: {
      UNAUTHENTICATED:
        `Correct the user name or the password (${kept}), or set that password for the user in RabbitMQ: ` +
        `\`rabbitmqctl change_password\`.`,
      FORBIDDEN:
        `Correct the virtual host (${kept}), or create it and give the user permissions on it: ` +
        `\`rabbitmqctl add_vhost\`, \`rabbitmqctl set_permissions\`.`,
    },
  }),
  async run({ broker }) {
    const { product, version } = await broker.identity()
    return { status: 'ok', detail: `${product} ${version} at ${broker.target} answers ${broker.user}` }
  },
})
