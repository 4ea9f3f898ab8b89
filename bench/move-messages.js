// Compares the move of 100,000 messages aside with RabbitMQ's own shovel, which confirms too. Both use the same broker,
// in turns.
import { performance } from 'node:perf_hooks'
import amqp from 'amqplib'
import { inTurns } from './measure.js'
import { withServers } from './servers.js'

const count = 100_000
const bytes = 1024
const rounds = 5
/** The rate must be at least 0.9 of the shovel's, so it may take 1 / 0.9 of the shovel's time. */
const goal = 1.11

export async function moveMessages() {
  return withServers(async (startServer, parts) => {
    const rows = []
    for (const line of ['3', '4.3'])
      rows.push(await compare(await startServer({ kind: 'rabbitmq', rabbitmq: { line } }), parts))
    return rows
  })
}

async function compare(server, { openMessageMover, Secret }) {
  const { host, port, user, password, managementUrl } = server
  const endpoint = {
    host,
    port,
    vhost: '/',
    user,
    password: new Secret(password),
    tls: { mode: 'disable', ca: null },
    managementUrl,
  }
  const connection = await amqp.connect({ hostname: host, port, username: user, password })
  const { source: mover, close } = await openMessageMover(endpoint, { timeoutMs: 60_000 })
  try {
    const medians = await inTurns(
      {
        ours: async () => {
          await fill(connection)
          const started = performance.now()
          const { moved } = await mover.aside({ from: 'source', to: 'held' })
          if (moved !== count) throw new Error(`moved ${moved}`)
          return performance.now() - started
        },
        shovel: async () => {
          await fill(connection)
          return shovel(server, connection)
        },
      },
      rounds,
    )
    return {
      what: `100,000 messages of 1 KiB moved aside, RabbitMQ ${server.version}`,
      ours: medians.ours,
      peer: 'its shovel, dynamic, ack-mode on-confirm, prefetch 1,000',
      theirs: medians.shovel,
      goal,
    }
  } finally {
    await close()
    await connection.close()
  }
}

/** Fills the source queue, empties the other one, and lets the broker come to rest. */
async function fill(connection) {
  const channel = await connection.createConfirmChannel()
  for (const queue of ['source', 'held']) {
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'classic' } })
    await channel.purgeQueue(queue)
  }
  const body = Buffer.alloc(bytes, 'm')
  for (let index = 0; index < count; index += 1) {
    channel.publish('', 'source', body, {
      persistent: true,
      messageId: String(index),
      contentType: 'application/json',
      headers: { index },
    })
    if (index % 5000 === 4999) await channel.waitForConfirms()
  }
  await channel.waitForConfirms()
  await channel.close()
  await new Promise((resolve) => setTimeout(resolve, 1000))
}

/** Returns milliseconds from the shovel's declaration until all messages have arrived and none is left. */
async function shovel({ host, port, user, password, managementUrl }, connection) {
  const ask = async (method, body) => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const init = {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    const answer = await fetch(`${managementUrl}/api/parameters/shovel/%2F${method === 'PUT' ? '/bench' : ''}`, init)
    if (!answer.ok) throw new Error(`${method} of a shovel: ${answer.status}`)
    return method === 'GET' ? answer.json() : null
  }
  const uri = `amqp://${user}:${encodeURIComponent(password)}@${host}:${port}/%2F`
  const channel = await connection.createChannel()
  const started = performance.now()
  await ask('PUT', {
    value: {
      'src-protocol': 'amqp091',
      'src-uri': uri,
      'src-queue': 'source',
      'src-delete-after': 'queue-length',
      'src-prefetch-count': 1000,
      'dest-protocol': 'amqp091',
      'dest-uri': uri,
      'dest-queue': 'held',
      'dest-add-forward-headers': false,
      'ack-mode': 'on-confirm',
    },
  })
  for (;;) {
    const [left, there] = [await channel.checkQueue('source'), await channel.checkQueue('held')]
    if (left.messageCount === 0 && there.messageCount === count) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const took = performance.now() - started
  await channel.close()
  while ((await ask('GET')).length > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  return took
}
