// Does what a service does when it starts: declares its queues and bindings, one after another on one channel, as
// Spring does.
import { readFileSync } from 'node:fs'
import amqp from 'amqplib'

const { host, port, user, password, names } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const connection = await amqp.connect({ hostname: host, port, username: user, password })
const channel = await connection.createChannel()
for (const name of names) {
  await channel.assertQueue(name, { durable: true })
  await channel.bindQueue(name, 'work', name)
}
await connection.close()
