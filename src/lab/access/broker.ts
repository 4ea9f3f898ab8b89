import type { Channel } from 'amqplib'
import { AdminError, messageOf } from '../../core/error.ts'
import { labNames, serversOf } from '../lab.ts'
import type { Lab, LabServers } from '../lab.ts'
import { topology } from '../practice-service/broker/topology.ts'

/**
 * Runs `work` on a channel of the lab's virtual host. When this returns, the broker has confirmed all published
 * messages. Throws UNREACHABLE, FAILED; REFUSED while a broker alarm blocks publishers.
 */
export async function onBroker<T>(lab: Lab, work: (channel: Channel) => Promise<T>): Promise<T> {
  const servers = await serversOf(lab)
  const { rabbitmq } = servers
  const { default: amqp } = await import('amqplib')
  const vhost = labNames(lab.state, servers).vhost ?? rabbitmq.database
  const address = {
    protocol: 'amqp',
    hostname: rabbitmq.host,
    port: rabbitmq.port,
    username: rabbitmq.user,
    password: rabbitmq.password,
    vhost,
  }
  let reason: unknown = null
  try {
    const connection = await amqp.connect(address, {
      timeout: 10_000,
      clientProperties: { connection_name: 'testops-admin lab' },
    })
    connection.on('error', (error: unknown) => (reason = error))
    const blocked = new Promise<never>((_, reject) => connection.on('blocked', (alarm) => reject(blockedBy(alarm))))
    blocked.catch(() => undefined)
    const done = async (): Promise<T> => {
      const channel = await connection.createConfirmChannel()
      channel.on('error', () => undefined)
      const result = await work(channel)
      // a connection that closes drops messages not sent yet
      await channel.waitForConfirms()
      return result
    }
    try {
      return await Promise.race([done(), blocked])
    } finally {
      await connection.close().catch(() => undefined)
    }
  } catch (error) {
    if (error instanceof AdminError) throw error
    const message = `the lab's RabbitMQ at ${rabbitmq.host}:${rabbitmq.port} failed: ${messageOf(reason ?? error)}`
    throw new AdminError('FAILED', message, ['testops-admin lab up'], { cause: error })
  }
}

function blockedBy(alarm: string): AdminError {
  const message = `the lab's RabbitMQ accepts no messages (alarm: ${alarm}), so the lab cannot create this fault now`
  return new AdminError('REFUSED', message, ['testops-admin lab status', 'testops-admin lab mend'])
}

/**
 * Deletes the service's queues and exchanges, so that its next start declares them again. Harmless if they are gone.
 */
export async function deleteTopology(lab: Lab): Promise<void> {
  await onBroker(lab, async (channel) => {
    for (const { name } of topology.queues) await channel.deleteQueue(name)
    for (const { name } of topology.exchanges) await channel.deleteExchange(name)
  })
}

/** Creates the lab's virtual host on a given broker. */
export async function prepareBroker(lab: Pick<Lab, 'state'>, servers: LabServers): Promise<void> {
  const { vhost } = labNames(lab.state, servers)
  if (vhost === null) return
  await management(servers, 'PUT', `/api/vhosts/${encodeURIComponent(vhost)}`, {})
  const { user } = servers.rabbitmq
  const all = { configure: '.*', write: '.*', read: '.*' }
  await management(servers, 'PUT', `/api/permissions/${encodeURIComponent(vhost)}/${encodeURIComponent(user)}`, all)
}

/** Deletes the lab's virtual host, with all its contents, from a given broker. */
export async function dropVhost(lab: Pick<Lab, 'state'>, servers: LabServers): Promise<void> {
  const { vhost } = labNames(lab.state, servers)
  if (vhost !== null) await management(servers, 'DELETE', `/api/vhosts/${encodeURIComponent(vhost)}`)
}

/** Sends a GET to the broker's management API and returns its answer. Throws UNREACHABLE. */
export async function askManagement(servers: LabServers, path: string): Promise<unknown> {
  return (await management(servers, 'GET', path)).json()
}

async function management(
  { rabbitmq }: LabServers,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${rabbitmq.user}:${rabbitmq.password}`).toString('base64')}`
  const url = `${rabbitmq.managementUrl}${path}`
  let said: string
  try {
    const answer = await fetch(url, {
      method,
      headers: { authorization, 'content-type': 'application/json', connection: 'close' },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(10_000),
    })
    if (answer.ok || (method === 'DELETE' && answer.status === 404)) return answer
    said = `status ${answer.status}`
  } catch (error) {
    said = messageOf(error)
  }
  throw new AdminError('UNREACHABLE', `the call ${method} ${url} to the broker's management API failed: ${said}`, [
    'if the lab uses your broker, set TESTOPS_ADMIN_LAB_RABBITMQ_MANAGEMENT_URL, and give the ' +
      '`administrator` tag to the user in TESTOPS_ADMIN_LAB_RABBITMQ_URL',
  ])
}
