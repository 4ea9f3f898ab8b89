import amqp from 'amqplib'
import { describe } from 'vitest'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { closedPort } from '../adapters/peers.ts'
import { freshVhost } from '../servers/index.ts'
import { brokerContract } from './broker.ts'

describe.each(['3', '4.3'] as const)('broker %s', (line) => {
  brokerContract(async ({ queues = [], exchanges = [], consumer, management = true }) => {
    const vhost = await freshVhost(line)
    for (const { name, durable, autoDelete } of queues) {
      await vhost.manage('PUT', `/api/queues/${vhost.vhost}/${encodeURIComponent(name)}`, { durable, auto_delete: autoDelete })
    }
    for (const { name, durable, type } of exchanges)
      await vhost.manage('PUT', `/api/exchanges/${vhost.vhost}/${name}`, { durable, type })
    const client = consumer ? await amqp.connect(vhost.url, { clientProperties: { connection_name: consumer.connection } }) : null
    if (client && consumer) await (await client.createChannel()).consume(consumer.queue, () => undefined)
    const managementUrl = management ? vhost.endpoint.managementUrl : `http://127.0.0.1:${await closedPort()}`
    const opened = await openBroker({ ...vhost.endpoint, managementUrl }, { timeoutMs: 10_000 })
    return {
      source: opened.source,
      async close() {
        await opened.close()
        await client?.close()
        await vhost.cleanup()
      },
    }
  }, line)
})
