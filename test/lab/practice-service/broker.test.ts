import { connect } from 'amqplib'
import { describe, expect, test } from 'vitest'
import { topology } from '../../../src/lab/practice-service/broker/topology.ts'
import { declaredQueues, durableConflicts } from '../../../src/knowledge/log-signatures.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, startService, until } from './support/deployment.ts'
import type { Deployment, Started } from './support/deployment.ts'

interface ManagedQueue {
  name: string
  durable: boolean
  consumers?: number
}

const queueNames = topology.queues.map(({ name }) => name).sort()

async function queues({ vhost }: Deployment): Promise<ManagedQueue[]> {
  return (await vhost.manage('GET', `/api/queues/${encodeURIComponent(vhost.vhost)}`)) as ManagedQueue[]
}

async function rabbitHealth({ url }: Started): Promise<{ status: string; details: Record<string, string> }> {
  const body = (await (await fetch(`${url}/api/management/health`)).json()) as {
    components: { rabbit: { status: string; details: Record<string, string> } }
  }
  return body.components.rabbit
}

/** A connection of the test's own to the deployment's vhost. */
async function client({ vhost }: Deployment): Promise<Awaited<ReturnType<typeof connect>>> {
  const connection = await connect(vhost.url)
  onEnd(() => connection.close())
  return connection
}

test('declares exchanges, queues and bindings, consumes, and names its connection', async () => {
  const on = await deployment()
  const service = await startService(on.settings)
  expect(
    (await queues(on)).map(({ name, durable }) => ({ name, durable })).sort((a, b) => a.name.localeCompare(b.name)),
  ).toEqual(queueNames.map((name) => ({ name, durable: true })))
  const exchanges = (await on.vhost.manage('GET', `/api/exchanges/${on.vhost.vhost}`)) as ManagedQueue[]
  expect(
    exchanges.filter(({ name }) => name.startsWith('testops')).map(({ name, durable }) => ({ name, durable })),
  ).toEqual([
    { name: 'testops.dead-letter', durable: true },
    { name: 'testops.direct', durable: true },
  ])
  const bindings = (await on.vhost.manage('GET', `/api/bindings/${on.vhost.vhost}`)) as { source: string }[]
  expect(bindings.filter(({ source }) => source !== '')).toHaveLength(topology.bindings.length)
  expect(await rabbitHealth(service)).toEqual({
    status: 'UP',
    details: { version: expect.stringMatching(/^\d+\.\d+/) as string },
  })
  expect(service.log()).not.toContain('Auto-declaring')
  const named = await until('the connection to be listed', async () => {
    const list = (await on.vhost.manage('GET', `/api/vhosts/${on.vhost.vhost}/connections`)) as {
      client_properties: { connection_name?: string }
    }[]
    return list[0]?.client_properties.connection_name
  })
  expect(named).toBe('rabbitConnectionFactory#0')

  const channel = await (await client(on)).createChannel()
  channel.publish('testops.direct', 'testops_upload_process', Buffer.from('work'))
  channel.publish('testops.dead-letter', 'testops_upload_process_dlq', Buffer.from('stuck'))
  await until(
    'the dead letter',
    async () => (await channel.checkQueue('testops_upload_process_dlq')).messageCount === 1,
  )
  await until(
    'the work to be taken',
    async () => (await channel.checkQueue('testops_upload_process')).messageCount === 0,
  )
  expect((await channel.checkQueue('testops_upload_process')).consumerCount).toBe(1)
  expect((await channel.checkQueue('testops_upload_process_dlq')).consumerCount).toBe(0)
})

test('without VENDOR_RABBIT_DURABLE declares transient queues and says so', async () => {
  const on = await deployment()
  const { VENDOR_RABBIT_DURABLE: _, ...settings } = on.settings
  const service = await startService(settings)
  expect((await queues(on)).every(({ durable }) => !durable)).toBe(true)
  expect(
    declaredQueues(service.log())
      .map(({ name, durable }) => [name, durable])
      .sort(),
  ).toEqual(queueNames.map((name) => [name, false]))
  expect(service.log()).toContain(
    'RabbitAdmin         : Auto-declaring a non-durable, auto-delete, or exclusive Queue (testops_upload_process) ' +
      'durable:false, auto-delete:false, exclusive:false. It will be redeclared if the broker stops and is restarted ' +
      'while the connection factory is alive, but all messages will be lost.',
  )
  expect((await rabbitHealth(service)).status).toBe('UP')
})

describe('a refused declaration', () => {
  test.each([
    { existing: true, asked: 'false' },
    { existing: false, asked: 'true' },
  ])('406: queue with durable $existing, asked for $asked; mended without a restart', async ({ existing, asked }) => {
    const on = await deployment()
    const channel = await (await client(on)).createChannel()
    await channel.assertQueue('testops_upload_post_process', { durable: existing })
    const service = await startService({ ...on.settings, VENDOR_RABBIT_DURABLE: asked })
    expect(await rabbitHealth(service)).toEqual({
      status: 'DOWN',
      details: { error: 'org.springframework.amqp.AmqpIOException: java.io.IOException' },
    })
    expect(durableConflicts(service.log())[0]).toEqual({
      kind: 'queue',
      name: 'testops_upload_post_process',
      vhost: on.vhost.vhost,
      wanted: !existing,
      current: existing,
    })
    expect(service.log()).toContain(
      'com.rabbitmq.client.ShutdownSignalException: channel error; protocol method: ' +
        '#method<channel.close>(reply-code=406, ' +
        'reply-text=PRECONDITION_FAILED - ' +
        `inequivalent arg 'durable' for queue 'testops_upload_post_process' in vhost '${on.vhost.vhost}': ` +
        `received '${asked}' but current is '${existing}', class-id=50, method-id=10)`,
    )
    // the first queues were declared before, the rest was not, and nobody consumes
    expect((await queues(on)).map(({ name }) => name)).not.toContain('testops_system_storage_clean')
    expect((await channel.checkQueue('testops_upload_process')).consumerCount).toBe(0)
    await until('another attempt', () => durableConflicts(service.log()).length >= 4)
    await channel.deleteQueue('testops_upload_post_process')
    await until('health', async () => (await rabbitHealth(service)).status === 'UP')
  })

  test('406 for an exchange names its class', async () => {
    const on = await deployment()
    await (await (await client(on)).createChannel()).assertExchange('testops.direct', 'direct', { durable: false })
    const service = await startService(on.settings)
    expect(service.log()).toMatch(
      /inequivalent arg 'durable' for exchange 'testops\.direct'.*, class-id=40, method-id=10\)/,
    )
  })

  test('541: a broker that refuses transient queues', async () => {
    const on = await deployment('4.3')
    const service = await startService({ ...on.settings, VENDOR_RABBIT_DURABLE: 'false' })
    expect((await rabbitHealth(service)).status).toBe('DOWN')
    expect(service.log()).toContain(
      'Caused by: com.rabbitmq.client.ShutdownSignalException: connection error; protocol method: ' +
        '#method<connection.close>' +
        '(reply-code=541, reply-text=INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\n',
    )
    expect(service.log()).toMatch(/, class-id=50, method-id=10\)\n/)
    expect(await queues(on)).toEqual([])
  })

  test('durable queues are fine on the same broker', async () => {
    const on = await deployment('4.3')
    const service = await startService(on.settings)
    expect((await rabbitHealth(service)).status).toBe('UP')
    expect(await queues(on)).toHaveLength(queueNames.length)
  })
})

describe('a broker that goes away', () => {
  test('is connected to again, and everything declared again', async () => {
    const on = await deployment()
    const service = await startService(on.settings)
    const name = await until(
      'the connection to be listed',
      async () =>
        ((await on.vhost.manage('GET', `/api/vhosts/${on.vhost.vhost}/connections`)) as { name: string }[])[0]?.name,
    )
    await on.vhost.manage('DELETE', `/api/queues/${on.vhost.vhost}/testops_system_dead_letter`)
    await on.vhost.manage('DELETE', `/api/connections/${encodeURIComponent(name)}`)
    await until('the loss to be told', () =>
      new RegExp(
        'connection error; protocol method: ' +
          String.raw`#method<connection\.close>\(reply-code=320, reply-text=CONNECTION_FORCED`,
      ).test(service.log()),
    )
    await until('the queue to come back', async () =>
      (await queues(on)).some((queue) => queue.name === 'testops_system_dead_letter'),
    )
    // the queue is there before the last of its bindings
    await until('health', async () => (await rabbitHealth(service)).status === 'UP')
  })

  test('a queue that is deleted under its consumer comes back', async () => {
    const on = await deployment()
    const service = await startService(on.settings)
    await on.vhost.manage('DELETE', `/api/queues/${on.vhost.vhost}/testops_upload_process`)
    await until('the queue to come back', async () =>
      (await queues(on)).some((queue) => queue.name === 'testops_upload_process'),
    )
    await until('health', async () => (await rabbitHealth(service)).status === 'UP')
  })

  test('that never was there: the service starts, DOWN for rabbit, and tries again', async () => {
    const on = await deployment()
    const port = await freePort()
    const service = await startService({ ...on.settings, SPRING_RABBITMQ_ADDRESSES: `amqp://127.0.0.1:${port}` })
    expect(await rabbitHealth(service)).toEqual({
      status: 'DOWN',
      details: {
        error: 'org.springframework.amqp.AmqpConnectException: java.net.ConnectException: Connection refused',
      },
    })
    await until(
      'another attempt',
      () => service.log().split(`Attempting to connect to: [127.0.0.1:${port}]`).length > 2,
    )
  })

  test('that does not know the password', async () => {
    const on = await deployment()
    const service = await startService({ ...on.settings, SPRING_RABBITMQ_PASSWORD: 'wrong-one' })
    expect((await rabbitHealth(service)).details['error']).toContain(
      'AmqpAuthenticationException: com.rabbitmq.client.AuthenticationFailureException: ACCESS_REFUSED',
    )
    expect(service.log()).not.toContain('wrong-one')
  })

  test('that has no such virtual host', async () => {
    const on = await deployment()
    const service = await startService({ ...on.settings, SPRING_RABBITMQ_VIRTUAL_HOST: 'nowhere' })
    expect((await rabbitHealth(service)).status).toBe('DOWN')
  })
})
