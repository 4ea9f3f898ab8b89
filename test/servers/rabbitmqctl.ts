import type { CtlCommand } from '../../src/adapters/rabbitmq/ctl/program.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { controlOf } from '../../src/lab/servers/local/rabbitmq.ts'

/**
 * Returns how to run `rabbitmqctl` for that broker, as `broker.rabbitmqctl` of a configuration says it: in the broker's
 * container if it has one.
 */
export function rabbitmqctlOf({ local, container, ...record }: ServerRecord): CtlCommand {
  if (local) return controlOf({ ...record, local })
  if (!container)
    throw new Error(`RabbitMQ at ${record.host}:${record.port} was given: nothing tells how its rabbitmqctl is run`)
  const { engine, containerId } = container
  const { PATH, HOME } = process.env
  return {
    command: ['docker', 'exec', containerId, 'rabbitmqctl'],
    environment: { PATH, HOME, ...(engine !== null && { DOCKER_HOST: engine }) },
  }
}
