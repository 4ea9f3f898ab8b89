import { defineCheck } from '../../core/check.ts'

export const brokerReachable = defineCheck({
  id: 'broker/reachable',
  title: 'broker answers',
  reads: ['broker'],
  guards: 'broker',
  explains: ['service/running', 'api/reachable', 'api/token', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: {
    text: 'Start RabbitMQ, or correct its address, virtual host or credentials. The service reconnects by itself or needs a restart.',
    commands: ['systemctl status rabbitmq-server', 'rabbitmq-diagnostics check_running', '{restart}'],
  },
  async run({ broker }) {
    const { product, version } = await broker.identity()
    return { status: 'ok', detail: `${product} ${version} at ${broker.target} answers ${broker.user}` }
  },
})
