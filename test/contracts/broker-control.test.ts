import amqp from 'amqplib'
import { describe } from 'vitest'
import { openBrokerControl } from '../../src/adapters/rabbitmq/control/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { brokerWorld } from '../fakes/index.ts'
import { freshVhost } from '../servers/index.ts'
import { brokerControlContract } from './broker-control.ts'

describe.each(['3', '4.3'] as const)('broker control of %s', (line) => {
  brokerControlContract(async () => {
    const vhost = await freshVhost(line)
    const control = openBrokerControl(vhost.endpoint, { timeoutMs: 10_000 })
    const source = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
    const client = await amqp.connect(vhost.url)
    return {
      control: control.source,
      source: source.source,
      async fill(queue, messages) {
        const channel = await client.createConfirmChannel()
        for (let count = 0; count < messages; count += 1)
          channel.sendToQueue(queue, Buffer.from('x'), { persistent: true })
        await channel.waitForConfirms()
        await channel.close()
      },
      async consume(queue) {
        const channel = await client.createChannel()
        await channel.consume(queue, () => undefined, { noAck: true })
        return { leave: async () => channel.close() }
      },
      async close() {
        await Promise.all([control.close(), source.close()])
        await client.close()
        await vhost.cleanup()
      },
    }
  }, line)
})

describe.each(['3', '4.3'] as const)('the fake of a broker control of %s', (line) => {
  brokerControlContract(async () => {
    const world = brokerWorld({ deniesTransient: line === '4.3' })
    return {
      control: world.control,
      source: world.source,
      fill: async (queue, messages) => world.fill(queue, messages),
      async consume(queue) {
        world.consume(queue)
        return { leave: async () => world.leave(queue) }
      },
      close: async () => undefined,
    }
  }, line)
})
