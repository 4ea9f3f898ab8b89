import amqp from 'amqplib'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { beans, queueDeployment, withOwn } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

/** What stands in the way, what is said of it, and with which exit code; nothing is changed by any of them. */
interface Refusal {
  name: string
  words?: readonly string[]
  env?: Readonly<Record<string, string>>
  set?: (own: QueueDeployment) => Promise<unknown>
  declares?: Beans
  /** of the user, while it is tried */
  rights?: { configure: string; write: string; read: string }
  code: number
  message: RegExp
}

/** Another program's exchange, which vanishes with its last binding. */
async function declareTheirs({ connect }: QueueDeployment): Promise<void> {
  const channel = await (await connect()).createChannel()
  await channel.assertExchange('theirs', 'topic', { durable: true, autoDelete: true })
  await channel.bindQueue('upload', 'theirs', 'upload.#')
}

async function permitTopics({ vhost }: QueueDeployment, exchange: string, read: string): Promise<void> {
  const path = `/api/topic-permissions/${vhost.vhost}/${vhost.vhost}`
  await vhost.manage('PUT', path, { exchange, write: '.*', read })
}

const refusals: readonly Refusal[] = [
  {
    name: 'a policy that lets waiting messages expire',
    set: async ({ vhost }) =>
      vhost.manage('PUT', `/api/policies/${vhost.vhost}/short`, {
        pattern: '.*',
        definition: { 'message-ttl': 1000 },
        'apply-to': 'queues',
      }),
    code: 4,
    message: new RegExp(
      String.raw`^policy short \(pattern \.\*\) sets message-ttl ` +
        'on the temporary queues that hold the messages during the repair, so messages could be lost$',
    ),
  },
  {
    name: "an operator's policy that bounds them",
    set: async ({ vhost }) =>
      vhost.manage('PUT', `/api/operator-policies/${vhost.vhost}/small`, {
        pattern: '^testops',
        definition: { 'max-length': 1 },
        'apply-to': 'queues',
      }),
    code: 4,
    message: new RegExp(
      String.raw`^operator policy small \(pattern \^testops\) sets max-length ` +
        'on the temporary queues that hold the messages during the repair',
    ),
  },
  {
    name: 'another client that reads one of its queues',
    set: async ({ vhost, connect }) => {
      const other = `${vhost.vhost}-other`
      await vhost.manage('PUT', `/api/users/${other}`, { password: 'other', tags: '' })
      await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${other}`, {
        configure: '.*',
        write: '.*',
        read: '.*',
      })
      const { host, port } = vhost.endpoint
      const client = await amqp.connect(`amqp://${other}:other@${host}:${port}/${vhost.vhost}`, {
        clientProperties: { connection_name: 'billing' },
      })
      client.on('error', () => undefined)
      // as the others, it goes with the deployment
      ;(await connect()).once(
        'close',
        () =>
          void client
            .close()
            .then(async () => vhost.manage('DELETE', `/api/users/${other}`))
            .catch(() => undefined),
      )
      await (await client.createChannel()).consume('export', () => undefined)
    },
    code: 4,
    message: /^other clients read from 1 queue \(export\): billing as \S+-other$/,
  },
  {
    name: 'nothing that proves which queues are its own',
    set: async ({ service }) => writeFile(join(service.directory, 'service.log'), ''),
    code: 4,
    message: /\. This repair changes only queues that certainly belong to the service$/,
  },
  {
    name: 'a pattern that leaves transient queues behind',
    words: ['--queue', 'upload*'],
    code: 4,
    message: new RegExp(
      String.raw`^--queue leaves out export\. With VENDOR_RABBIT_DURABLE=true, ` +
        'the service would declare this queue as durable, and the broker would refuse this$',
    ),
  },
  {
    name: 'a transient queue beside its own, of which nothing tells whose it is',
    set: async ({ vhost }) => {
      await vhost.manage('PUT', `/api/queues/${vhost.vhost}/audit`, { durable: false })
      await vhost.manage('POST', `/api/bindings/${vhost.vhost}/e/work/q/audit`, { routing_key: 'upload.#' })
    },
    code: 4,
    message: new RegExp(
      '^cannot tell whether transient queue audit belongs to the service: ' +
        String.raw`it is bound to exchange work, like the service's own queues\. .*\(406\)$`,
    ),
  },
  {
    name: 'a pattern that names nothing',
    words: ['--queue', 'nope*'],
    code: 64,
    message: /^--queue nope\* matches no queue: vhost \S+ has 3 queues: export, upload, upload_dlq$/,
  },
  {
    name: 'a user who may declare nothing of ours',
    rights: { configure: '^(work|dead|up.*|export)$', write: '.*', read: '.*' },
    code: 69,
    message: new RegExp(
      String.raw`^user \S+ has no sufficient permission on queue 'testops-admin\.lock' in vhost .* ` +
        String.raw`\(declaring queue testops-admin\.lock, which keeps other operators out\)$`,
    ),
  },
  {
    name: 'a user who may declare nothing of ours but the lock',
    rights: { configure: '^(work|dead|up.*|export|.*lock)$', write: '.*', read: '.*' },
    code: 69,
    message: /^user \S+ has no configure permission on queue 'testops-admin\.held\.export' \(RabbitMQ at/,
  },
  {
    name: 'a user who may not read the temporary queues',
    rights: { configure: '.*', write: '.*', read: '^(work|dead|up|export|testops-admin.(?!held))' },
    code: 69,
    message: /^user \S+ has no read permission on queue 'testops-admin\.held\.export' \(RabbitMQ at/,
  },
  {
    name: 'a user who may not declare the exchange through which messages come back',
    rights: { configure: '^(?!testops-admin.back.trial)', write: '.*', read: '.*' },
    code: 69,
    message: /^user \S+ has no configure permission on exchange 'testops-admin\.back\.trial' \(RabbitMQ at/,
  },
  {
    name: "a user who may not bind another program's exchange so that it is kept",
    set: async (own) => {
      await declareTheirs(own)
      await permitTopics(own, 'theirs', '^upload')
    },
    code: 69,
    message: new RegExp(
      String.raw`^user \S+ has no sufficient permission on topic 'testops-admin\.back\.kept' ` +
        "in exchange 'theirs' in vhost",
    ),
  },
  {
    name: "a user who may not declare what keeps another program's exchange",
    set: declareTheirs,
    rights: { configure: '^(?!testops-admin.back.kept)', write: '.*', read: '.*' },
    code: 69,
    message: /^user \S+ has no configure permission on exchange 'testops-admin\.back\.kept' \(RabbitMQ at/,
  },
  ...(
    [
      ['write to the alternate exchange of its exchange', { write: '^(?!unrouted)', read: '.*' }, 'unrouted'],
      ['read its exchange, which has an alternate exchange', { write: '.*', read: '^(?!passing)' }, 'passing'],
    ] as const
  ).map(
    ([what, rights, exchange]): Refusal => ({
      name: `a user who may not ${what}`,
      declares: {
        ...beans,
        exchanges: [...beans.exchanges, { name: 'passing', type: 'fanout', alternate: 'unrouted' }],
      },
      rights: { configure: '.*', ...rights },
      code: 69,
      message: new RegExp(
        `^user \\S+ has no sufficient permission on exchange '${exchange}' in vhost .* ` +
          String.raw`\(declaring exchange passing with its alternate exchange\)$`,
      ),
    }),
  ),
  {
    name: "a user who may not bind the service's own routing keys",
    set: async (own) => permitTopics(own, 'work', '^never'),
    code: 69,
    message: /^user \S+ has no sufficient permission on topic '(upload\.#|export)' in exchange 'work' in vhost/,
  },
  {
    name: 'a user who may not read its queues',
    rights: { configure: '.*', write: '.*', read: '^(testops-admin|work|dead)' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .*\(reading queue/,
  },
  {
    name: 'a user who may not put messages aside',
    rights: { configure: '.*', write: '^(?!amq)', read: '.*' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .* \(moving messages aside from queue/,
  },
  {
    name: 'a user who may not delete its queues',
    rights: { configure: '^(testops-admin.*|work|dead)$', write: '.*', read: '.*' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .*\(declaring queue/,
  },
  {
    name: 'a user who may not delete its exchanges',
    rights: { configure: '^(testops-admin.*|up.*|export)$', write: '.*', read: '.*' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .*\(declaring exchange/,
  },
  {
    name: 'a user who may not send messages back to its queues',
    rights: { configure: '.*', write: '^(testops-admin|amq|work|dead)', read: '.*' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .*\(making bindings to (upload|export)/,
  },
  ...(
    [
      [
        'delete its queues',
        { configure: '^(testops-admin.lock|work|dead)$', write: '.*', read: '.*' },
        /\(declaring queue (upload|upload_dlq|export)\)/, // they are tried at the same time
      ],
      [
        'declare queues with dead letters again',
        { configure: '.*', write: '.*', read: '^(work|dead|export)$' },
        /\(reading queue upload\)$/,
      ],
      [
        'delete its exchanges',
        { configure: '^(testops-admin.lock|up.*|export)$', write: '.*', read: '.*' },
        /\(declaring exchange/,
      ],
      [
        'bind its queues again',
        { configure: '.*', write: '^(testops-admin|amq|work|dead)', read: '.*' },
        /\(making bindings to (upload|export)/,
      ],
      [
        'read from its exchanges',
        { configure: '.*', write: '.*', read: '^(up.*|export|dead)$' },
        /\(making bindings to (upload|export)/,
      ],
      [
        'write to the exchange of its dead letters',
        { configure: '.*', write: '^(testops-admin|amq|work|up.*|export)', read: '.*' },
        /\(sending dead letters to exchange dead\)$/,
      ],
    ] as const
  ).map(
    ([what, rights, message]): Refusal => ({
      name: `a user who may not ${what}, with --discard-messages`,
      words: ['--discard-messages'],
      rights,
      code: 69,
      message: new RegExp(`^user \\S+ has no sufficient permission on .*${message.source}`),
    }),
  ),
  {
    name: 'a user who may not write to the exchange of its dead letters',
    rights: { configure: '.*', write: '^(testops-admin|amq|up|export)', read: '.*' },
    code: 69,
    message: /^user \S+ has no sufficient permission on .*\(sending dead letters to exchange dead/,
  },
  {
    name: 'an environment that is for looking only',
    env: { TESTOPS_ADMIN_READ_ONLY: '1' },
    code: 4,
    message: /TESTOPS_ADMIN_READ_ONLY is set/,
  },
]

describe.concurrent('nothing is changed where there is', () => {
  test.each(refusals)('$name', async ({ words = [], env = {}, set, declares = beans, rights, code, message }) => {
    const own = await queueDeployment('3', { declares })
    try {
      await own.fill('upload', ['1', '2'])
      await set?.(own)
      const before = await own.state()
      const { vhost } = own.vhost
      const give = async (all: object): Promise<unknown> =>
        own.vhost.manage('PUT', `/api/permissions/${vhost}/${vhost}`, all)
      if (rights) await give(rights)
      const ended = await own.operator.repair(['reset-queues', '--drain', '0', ...words], { env })
      await give({ configure: '.*', write: '.*', read: '.*' })
      const error = ended.json<Partial<RepairDocument>>().error
      expect({ code: ended.code, message: error?.message }).toEqual({
        code,
        message: expect.stringMatching(message) as string,
      })
      const { ours, ...after } = await own.state()
      expect({ ...after, ours: ours.filter((name) => name.startsWith('testops-admin.held.')) }).toEqual({
        ...before,
        ours: [],
      })
    } finally {
      await own.end()
    }
  })
})

test.concurrent('a risk that is accepted by name is taken', async () => {
  const own = await queueDeployment('3')
  try {
    const { vhost } = own
    await vhost.manage('PUT', `/api/users/${vhost.vhost}`, {
      password: vhost.endpoint.password!.reveal(),
      tags: 'management',
    })
    const refused = await own.operator.repair(['reset-queues', '--drain', '0'])
    expect({ code: refused.code, risks: refused.json<RepairDocument>().plan.risks.map(({ name }) => name) }).toEqual({
      code: 4,
      risks: ['foreign-clients'],
    })
    const done = await own.operator.repair(['reset-queues', '--drain', '0', '--accept-risk', 'foreign-clients'])
    expect(done.code).toBe(0)
  } finally {
    await own.end()
  }
})

test.concurrent('each transient queue that is left is named, and why', async () => {
  const own = await queueDeployment('3')
  try {
    const { vhost, connect } = own
    for (const name of ['billing', 'reports'])
      await vhost.manage('PUT', `/api/queues/${vhost.vhost}/${name}`, { durable: false })
    const other = `${vhost.vhost}-other`
    await vhost.manage('PUT', `/api/users/${other}`, { password: 'other', tags: '' })
    await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${other}`, { configure: '.*', write: '.*', read: '.*' })
    const { host, port } = vhost.endpoint
    const client = await amqp.connect(`amqp://${other}:other@${host}:${port}/${vhost.vhost}`)
    ;(await connect()).once(
      'close',
      () =>
        void client
          .close()
          .then(async () => vhost.manage('DELETE', `/api/users/${other}`))
          .catch(() => undefined),
    )
    await (await client.createChannel()).consume('billing', () => undefined)
    // lists of consumers lag (FIELD-NOTES.md 3)
    await expect
      .poll(async () => vhost.manage('GET', `/api/consumers/${vhost.vhost}`), { timeout: 20_000 })
      .toMatchObject([{ channel_details: { user: other } }])
    const { plan } = (
      await own.operator.run(['reset-queues', '--drain', '0', '--dry-run', '--json'])
    ).json<RepairDocument>()
    expect(plan.notes).toContainEqual(
      `other queues that stay transient: billing (read by ${other}), reports (not known to be the service's)`,
    )
  } finally {
    await own.end()
  }
})

test.concurrent('a queue with brackets in its name is known by the log', async () => {
  const name = "upload (retry) of o'clock"
  await withOwn(
    '3',
    async (own) => {
      await own.fill(name, ['1', '2'])
      const done = await own.operator.repair(['reset-queues', '--drain', '0'])
      const { queues } = await own.state()
      expect({ code: done.code, queue: queues[name] }, done.stderr).toMatchObject({
        code: 0,
        queue: { durable: true, texts: ['1', '2'] },
      })
    },
    { declares: { exchanges: [], queues: [{ name }], bindings: [] } },
  )
})

test.concurrent('a saved plan is refused once the queues are others', async () => {
  const own = await queueDeployment('3')
  try {
    const { stdout } = await own.operator.run(['reset-queues', '--drain', '0', '--dry-run', '--json'])
    const file = join(own.deployed.directory, 'plan.json')
    await writeFile(file, stdout)
    await own.fill('upload', ['more'])
    const connection = await own.connect()
    const channel = await connection.createChannel()
    await channel.assertQueue('upload_more', { durable: false })
    await channel.bindQueue('upload', 'work', 'another')
    const before = await own.state()
    const stale = await own.operator.repair(['apply', file])
    expect({
      code: stale.code,
      message: stale.json<RepairDocument>().error?.message,
      state: await own.state(),
    }).toEqual({
      code: 4,
      message: 'the deployment has changed since the plan was made: a new plan would differ in its steps',
      state: before,
    })
    await channel.unbindQueue('upload', 'work', 'another')
    await connection.close()
    expect((await own.operator.repair(['apply', file])).code).toBe(0)
  } finally {
    await own.end()
  }
})

test.concurrent('the second operator is told who is at work', async () => {
  const own = await queueDeployment('3')
  try {
    await own.fill('upload', ['1'])
    const first = own.operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
      failpoint: 'move-messages:opened=stop',
    })
    await first.untilStopped()
    const second = await own.operator.repair(['reset-queues', '--drain', '0'])
    expect(second.code).toBe(5)
    first.goOn()
    expect((await first.ended).code).toBe(0)
  } finally {
    await own.end()
  }
})
