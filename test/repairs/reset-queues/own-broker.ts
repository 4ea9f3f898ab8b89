import amqp from 'amqplib'
import type { ChannelModel, Options } from 'amqplib'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { operatorLock } from '../../../src/knowledge/broker.ts'
import type { RabbitmqLine, ServerRecord } from '../../../src/lab/servers/index.ts'
import { closedPort } from '../../adapters/peers.ts'
import { freshVhost, rabbitmqctlOf, servers } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { deploy } from '../support/deploy.ts'
import type { Deployed } from '../support/deploy.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'
import { standIn } from '../support/stand-in.ts'
import type { StandIn } from '../support/stand-in.ts'

interface QueueBean {
  name: string
  arguments?: Record<string, unknown>
  autoDelete?: boolean
  /** true: whatever the setting says, as quorum queues and streams have to be */
  durable?: true
}

/** What the service declares: as in the practice service, but small. */
export interface Beans {
  /** `alternate`: the exchange that gets what it cannot route */
  exchanges: readonly { name: string; type: string; alternate?: string }[]
  queues: readonly QueueBean[]
  bindings: readonly { exchange: string; queue: string; routingKey: string }[]
}

export const beans: Beans = {
  exchanges: [
    { name: 'work', type: 'topic' },
    { name: 'dead', type: 'direct' },
  ],
  queues: [
    { name: 'upload', arguments: { 'x-dead-letter-exchange': 'dead', 'x-dead-letter-routing-key': 'upload_dlq' } },
    { name: 'upload_dlq' },
    { name: 'export', arguments: { 'x-max-priority': 5 } },
  ],
  bindings: [
    { exchange: 'work', queue: 'upload', routingKey: 'upload.#' },
    { exchange: 'work', queue: 'export', routingKey: 'export' },
    { exchange: 'dead', queue: 'upload_dlq', routingKey: 'upload_dlq' },
  ],
}

/** A deployment whose service is a stand-in that declares its queues when it starts, as Spring's RabbitAdmin does. */
export interface QueueDeployment {
  vhost: FreshVhost
  service: StandIn
  deployed: Deployed
  operator: Operator
  /** as the service, which has it open until the test closes it */
  connect: (name?: string) => Promise<ChannelModel>
  /** texts into a queue, in their order; each is persistent unless told otherwise */
  fill: (queue: string, texts: readonly string[], options?: Options.Publish) => Promise<void>
  /** texts in a queue, in their order; they stay there */
  texts: (queue: string) => Promise<string[]>
  /**
   * queues and exchanges with what tells them apart, bindings, the setting, the service, and how many queues of ours
   * are left
   */
  state: () => Promise<State>
  setting: () => Promise<string | null>
  end: () => Promise<void>
}

export interface State {
  queues: Record<string, { durable: boolean; autoDelete: boolean; arguments: Record<string, unknown>; texts: string[] }>
  exchanges: Record<string, boolean>
  bindings: string[]
  setting: string | null
  running: boolean
  ours: string[]
}

const settingName = 'VENDOR_RABBIT_DURABLE'

interface Wanted {
  durable?: string | null
  declares?: Beans
  start?: boolean
  /** another broker than the shared one of that line */
  on?: ServerRecord
  /** another port than the broker's own, by which the operator reaches it */
  port?: number | undefined
  /** the management API is not in reach */
  byRabbitmqctl?: boolean
  /** of the virtual host, where it is to be an odd one */
  named?: string
}

export async function queueDeployment(
  line: RabbitmqLine,
  { durable = 'false', declares = beans, start = true, on, port, named, byRabbitmqctl = false }: Wanted = {},
): Promise<QueueDeployment> {
  const vhost = await freshVhost(line, on, named)
  const service = await standIn({ running: false })
  const environmentFile = join(service.directory, 'service.env')
  await writeFile(
    environmentFile,
    `# of the tests\nSPRING_RABBITMQ_USERNAME=${vhost.endpoint.user}\n` +
      `${durable === null ? '' : `${settingName}=${durable}\n`}`,
  )
  const setting = async (): Promise<string | null> =>
    new RegExp(`^${settingName}=(.*)$`, 'm').exec(await readFile(environmentFile, 'utf8'))?.[1] ?? null
  const isDurable = async (): Promise<boolean> => (await setting()) === 'true'
  service.onStart(async () => declareAll(vhost.url, declares, await isDurable(), service))
  if (start) await service.start()
  const { endpoint } = vhost
  const closed = await closedPort()
  const deployed = await deploy((secret) => ({
    url: service.url,
    platform: 'host',
    host: service.host,
    vendor: { prefix: 'VENDOR' },
    broker: {
      url: `amqp://${endpoint.user}@${endpoint.host}:${port ?? endpoint.port}/${encodeURIComponent(endpoint.vhost)}`,
      ...(byRabbitmqctl
        ? {
            managementUrl: `http://127.0.0.1:${closed}`,
            rabbitmqctl: commandOf(on ?? (line === '3' ? servers().rabbitmq3 : servers().rabbitmq43)),
          }
        : { managementUrl: endpoint.managementUrl }),
      password: secret(endpoint.password!.reveal()),
    },
  }))
  const someone = await operator(deployed)
  const open = new Set<ChannelModel>()
  const connect = async (name = 'tests'): Promise<ChannelModel> => {
    const connection = await amqp.connect(vhost.url, { clientProperties: { connection_name: name } })
    open.add(connection)
    connection.on('error', () => undefined)
    connection.once('close', () => open.delete(connection))
    return connection
  }
  // for no longer than the work takes: the service's user is waited for until it is gone
  const connected = async <T>(work: (connection: ChannelModel) => Promise<T>): Promise<T> => {
    const connection = await connect()
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  }
  const texts = async (queue: string): Promise<string[]> => connected(async (connection) => textsIn(connection, queue))
  return {
    vhost,
    service,
    deployed,
    operator: someone,
    connect,
    setting,
    texts,
    async fill(queue, all, options = {}) {
      await connected(async (connection) => {
        const confirming = await connection.createConfirmChannel()
        for (const text of all) confirming.sendToQueue(queue, Buffer.from(text), { persistent: true, ...options })
        await confirming.waitForConfirms()
      })
    },
    async state() {
      const of = encodeURIComponent(vhost.vhost)
      const list = async (): Promise<Listed[]> =>
        (await vhost.manage('GET', `/api/queues/${of}?columns=name,durable,auto_delete,arguments`)) as Listed[]
      let queues = await list()
      // a broker removes the queue that a connection alone used only some time after it has closed the connection
      for (let i = 0; i < 50 && queues.some(({ name }) => name === operatorLock.queue); i++) {
        await setTimeout(100)
        queues = await list()
      }
      const exchanges = (await vhost.manage('GET', `/api/exchanges/${of}`)) as Listed[]
      const bindings = (await vhost.manage('GET', `/api/bindings/${of}`)) as Record<string, string>[]
      const own = queues.filter(({ name }) => !name.startsWith('testops-admin.'))
      const entries = await connected(async (connection) =>
        Promise.all(
          own.map(async ({ name, durable: lasts, auto_delete: autoDelete, arguments: values }) => {
            const { 'x-queue-type': _, ...kept } = values
            return [
              name,
              { durable: lasts, autoDelete, arguments: kept, texts: await textsIn(connection, name) },
            ] as const
          }),
        ),
      )
      return {
        queues: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))),
        exchanges: Object.fromEntries(
          exchanges
            .filter(({ name }) => name !== '' && !name.startsWith('amq.'))
            .map(({ name, durable: lasts }) => [name, lasts]),
        ),
        bindings: bindings
          .filter((it) => it['source'] !== '')
          .map((it) => `${it['source']} -${it['routing_key']}-> ${it['destination']}`)
          .sort(),
        setting: await setting(),
        running: await service.isRunning(),
        ours: queues.map(({ name }) => name).filter((name) => name.startsWith('testops-admin.')),
      }
    },
    async end() {
      await someone.leave()
      for (const connection of open) await connection.close().catch(() => undefined)
      await service.end()
      await deployed.remove()
      await vhost.cleanup()
    },
  }
}

/** With one that is ended afterwards, whatever comes of it. */
export async function withOwn(
  line: RabbitmqLine,
  work: (own: QueueDeployment) => Promise<void>,
  wanted: Wanted = {},
): Promise<void> {
  const own = await queueDeployment(line, wanted)
  try {
    await work(own)
  } finally {
    await own.end()
  }
}

/** With the environment that makes it speak to that server alone. */
function commandOf(server: ServerRecord): string[] {
  const { command, environment = {} } = rabbitmqctlOf(server)
  return [
    'env',
    ...Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
    ...command,
  ]
}

interface Listed {
  name: string
  durable: boolean
  auto_delete: boolean
  arguments: Record<string, unknown>
}

/** What the state is once the queues are durable: as it was, but for that. */
export function madeDurable(state: State): State {
  return {
    ...state,
    queues: Object.fromEntries(
      Object.entries(state.queues).map(([name, queue]) => [name, { ...queue, durable: true }]),
    ),
    exchanges: Object.fromEntries(Object.keys(state.exchanges).map((name) => [name, true])),
    setting: 'true',
    running: true,
  }
}

/** A kill can leave a message twice, never nowhere, and never before one that it came after. */
export function withoutRepetitions(state: State): State {
  const once = (texts: readonly string[]): string[] => [...new Set(texts)]
  return {
    ...state,
    queues: Object.fromEntries(
      Object.entries(state.queues).map(([name, queue]) => [name, { ...queue, texts: once(queue.texts) }]),
    ),
  }
}

async function declareAll(
  url: string,
  { exchanges, queues, bindings }: Beans,
  durable: boolean,
  service: StandIn,
): Promise<void> {
  const now = new Date().toISOString().replace('T', ' ').replace('Z', '')
  const connection = await amqp.connect(url)
  connection.on('error', () => undefined)
  try {
    const channel = await connection.createChannel()
    channel.on('error', () => undefined)
    if (!durable) {
      for (const { name } of exchanges) {
        await service.log(
          `${now}  INFO 1 --- [main] o.s.amqp.rabbit.core.RabbitAdmin : Auto-declaring a non-durable or ` +
            `auto-delete Exchange (${name}) durable:false, auto-delete:false.`,
        )
      }
      for (const { name, autoDelete = false } of queues.filter((it) => it.durable !== true)) {
        await service.log(
          `${now}  INFO 1 --- [main] o.s.amqp.rabbit.core.RabbitAdmin : Auto-declaring a non-durable, ` +
            `auto-delete, or exclusive Queue (${name}) durable:false, auto-delete:${String(autoDelete)}, ` +
            'exclusive:false.',
        )
      }
    }
    for (const { name, type, alternate } of exchanges)
      await channel.assertExchange(name, type, { durable, ...(alternate && { alternateExchange: alternate }) })
    for (const { name, autoDelete = false, arguments: values = {}, durable: lasts = durable } of queues) {
      await channel.assertQueue(name, { durable: lasts, autoDelete, arguments: values })
    }
    for (const { exchange, queue, routingKey } of bindings) await channel.bindQueue(queue, exchange, routingKey)
  } catch (error) {
    await service.log(
      `${now} ERROR 1 --- [main] o.s.a.r.c.CachingConnectionFactory : Shutdown Signal: ${String(error)}`,
    )
  } finally {
    await connection.close().catch(() => undefined)
  }
}

async function textsIn(connection: ChannelModel, queue: string): Promise<string[]> {
  const channel = await connection.createChannel()
  const texts: string[] = []
  for (;;) {
    const message = await channel.get(queue, { noAck: false })
    if (message === false) break
    texts.push(message.content.toString())
  }
  // what was got and not acknowledged goes back to where it was
  await channel.close()
  return texts
}
