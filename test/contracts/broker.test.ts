import amqp from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openBrokerControl } from '../../src/adapters/rabbitmq/control/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import type { Opened } from '../../src/core/endpoint.ts'
import type { BrokerSource } from '../../src/core/sources.ts'
import type { CtlCommand } from '../../src/adapters/rabbitmq/ctl/program.ts'
import { closedPort } from '../adapters/peers.ts'
import { takingTurns } from '../support/campaign.ts'
import { freshVhost, rabbitmqctlOf, servers } from '../servers/index.ts'
import type { FreshVhost } from '../servers/index.ts'
import { brokerContract } from './broker.ts'
import type { BrokerSituation } from './broker.ts'

describe.each(['3', '4.3'] as const)('broker %s', (line) => {
  brokerContract(async (situation) => {
    const vhost = await freshVhost(line)
    const managementUrl =
      situation.management === false ? `http://127.0.0.1:${await closedPort()}` : vhost.endpoint.managementUrl
    return opened(situation, vhost, managementUrl)
  }, line)

  test.each(['', 'impersonator', 'policymaker'])(
    "shows permissions to administrators only, not with '%s'",
    async (tag) => {
      const vhost = await freshVhost(line)
      const { source, close } = await opened({ tag }, vhost, vhost.endpoint.managementUrl)
      onTestFinished(close)
      expect(await source.permissions()).toBeNull()
    },
  )
})

// each question is an Erlang of its own: the two lines take turns, and each has what only it can say of queues
describe.each([
  ['3', 1],
  ['4.3', 0],
] as const)('broker %s through rabbitmqctl', (line, place) => {
  const command = rabbitmqctlOf(line === '3' ? servers().rabbitmq3 : servers().rabbitmq43)
  brokerContract(
    async (situation) => {
      const rabbitmqctl = situation.management === false ? undefined : async () => command
      return opened(situation, await freshVhost(line), `http://127.0.0.1:${await closedPort()}`, rabbitmqctl)
    },
    line,
    takingTurns(2, place),
  )
})

async function opened(
  situation: BrokerSituation,
  vhost: FreshVhost,
  managementUrl: string | null,
  rabbitmqctl?: () => Promise<CtlCommand>,
): Promise<Opened<BrokerSource>> {
  const leave = await bringAbout(situation, vhost)
  const { source, close } = await openBroker({ ...vhost.endpoint, managementUrl }, { timeoutMs: 20_000, rabbitmqctl })
  return {
    source,
    async close() {
      await close()
      await leave()
      await vhost.cleanup()
    },
  }
}

/** Gives a function that takes the clients away again. */
async function bringAbout(situation: BrokerSituation, vhost: FreshVhost): Promise<() => Promise<void>> {
  const { queues = [], exchanges = [], bindings = [], policies = [], tag, messages = {}, consumer } = situation
  const manage: FreshVhost['manage'] = async (...asked) => vhost.manage(...asked)
  for (const { name, durable, autoDelete } of queues) {
    await manage('PUT', `/api/queues/${vhost.vhost}/${encodeURIComponent(name)}`, { durable, auto_delete: autoDelete })
  }
  if (tag !== undefined)
    await manage('PUT', `/api/users/${vhost.endpoint.user}`, {
      password: vhost.endpoint.password?.reveal(),
      tags: `monitoring,${tag}`,
    })
  for (const { name, durable, type, arguments: given = {} } of exchanges)
    await manage('PUT', `/api/exchanges/${vhost.vhost}/${name}`, { durable, type, arguments: given })
  for (const { name, isOperators, appliesTo, ...of } of policies)
    await manage('PUT', `/api/${isOperators ? 'operator-' : ''}policies/${vhost.vhost}/${name}`, {
      ...of,
      'apply-to': appliesTo,
    })
  if (bindings.length > 0) {
    const control = openBrokerControl(vhost.endpoint, { timeoutMs: 10_000 })
    await control.source.bind(bindings)
    await control.close()
  }
  if (!consumer && Object.keys(messages).length === 0) return async () => undefined
  const client = await amqp.connect(vhost.url, {
    clientProperties: { connection_name: consumer?.connection ?? 'a test' },
  })
  const channel = await client.createConfirmChannel()
  for (const [queue, count] of Object.entries(messages))
    for (let sent = 0; sent < count; sent += 1) channel.sendToQueue(queue, Buffer.from('x'))
  await channel.waitForConfirms()
  if (consumer) await channel.consume(consumer.queue, () => undefined)
  return async () => client.close()
}
