// Compares `reset-queues`, which makes 1,000 transient queues with messages durable, with the same by management calls
// one after another, and by rabbitmqadmin.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import amqp from 'amqplib'
import { inTurns, time } from './measure.js'
import { withServers } from './servers.js'

const count = 1000
const messages = 20
const sample = 20
const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const names = Array.from({ length: count }, (_, index) => `queue-${String(index).padStart(4, '0')}`)

export async function resetQueues() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    return await withServers(async (startServer) => {
      const server = await startServer({ kind: 'rabbitmq', rabbitmq: { line: '3' } })
      return compare(server, folder)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(server, folder) {
  const env = deployment(server, folder)
  // another user, so that the connections that the broker opens for such calls are not the service's
  const manager = { ...server, user: 'manager' }
  await managementOf(server)('PUT', '/api/users/manager', { password: server.password, tags: 'administrator' })
  await managementOf(server)('PUT', '/api/permissions/%2F/manager', { configure: '.*', write: '.*', read: '.*' })
  const ask = managementOf(manager)
  const restart = () => time(['sh', join(folder, 'start')])
  /**
   * Measures one way from transient queues to durable ones. They are bound as before and keep their messages, and a
   * service has declared its own.
   */
  const fromTransient = (reset) => async () => {
    await fill(server)
    writeFileSync(join(folder, 'service.env'), 'VENDOR_RABBIT_DURABLE=false\n')
    const took = await reset()
    await look(server, names)
    return took
  }
  const calls = async () => {
    const started = performance.now()
    for (const name of names) {
      const held = await ask('POST', `/api/queues/%2F/${name}/get`, {
        count: 1000,
        ackmode: 'ack_requeue_false',
        encoding: 'base64',
      })
      await ask('DELETE', `/api/queues/%2F/${name}?if-empty=true`)
      await ask('PUT', `/api/queues/%2F/${name}`, { durable: true })
      await ask('POST', `/api/bindings/%2F/e/work/q/${name}`, { routing_key: name })
      for (const { payload, properties } of held)
        await ask('POST', '/api/exchanges/%2F/amq.default/publish', {
          routing_key: name,
          payload,
          payload_encoding: 'base64',
          properties,
        })
    }
    return performance.now() - started + (await restart())
  }
  /** One process for each call takes minutes for all queues: measures a sample, and returns the time for all. */
  const admin = async () => {
    const with_ = [
      'python3',
      await rabbitmqadmin(server, folder),
      '-q',
      '-c',
      join(folder, 'rabbitmqadmin.conf'),
      '-N',
      'bench',
    ]
    const some = names.slice(0, sample)
    let took = 0
    for (const name of some) {
      took += await time([...with_, 'get', `queue=${name}`, 'count=1000', 'ackmode=ack_requeue_false'])
      took += await time([...with_, 'delete', 'queue', `name=${name}`])
      took += await time([...with_, 'declare', 'queue', `name=${name}`, 'durable=true'])
      took += await time([...with_, 'declare', 'binding', 'source=work', `destination=${name}`, `routing_key=${name}`])
      for (let index = 0; index < messages; index += 1)
        took += await time([...with_, 'publish', 'routing_key=' + name, `payload=${index}`])
    }
    await look(server, some)
    return (took * count) / sample
  }
  const ours = () =>
    time(
      [
        process.execPath,
        program,
        'reset-queues',
        '--config',
        join(folder, 'testops-admin.yaml'),
        '--confirm',
        'bench',
        '--drain',
        '0',
        '--json',
      ],
      { env },
    )
  const medians = await inTurns({ ours: fromTransient(ours), calls: fromTransient(calls) }, 3)
  await fill(server)
  const single = await admin()
  const what = `\`reset-queues\` of 1,000 queues with ${messages} messages each, RabbitMQ ${server.version}`
  return [
    {
      what,
      ours: medians.ours,
      peer: 'the same by management calls, one after the other',
      theirs: medians.calls,
      goal: 0.5,
    },
    {
      what,
      ours: medians.ours,
      peer:
        `the same by the rabbitmqadmin of that version, a process a call (${sample} queues measured, for all of ` +
        'them)',
      theirs: single,
      goal: 0.2,
    },
  ]
}

/** Writes a deployment whose service declares its queues when it starts, and stops at once. Returns its environment. */
function deployment({ host, port, user, password, managementUrl }, folder) {
  const file = (name, text) => {
    writeFileSync(join(folder, name), text, { mode: 0o700 })
    return join(folder, name)
  }
  const log = names.map(
    (name) =>
      '2026-11-21 00:00:00.000  INFO 1 --- [main] RabbitAdmin : Auto-declaring a non-durable, auto-delete, or ' +
      `exclusive Queue (${name}) durable:false, auto-delete:false, exclusive:false.`,
  )
  file('service.log', `${log.join('\n')}\n`)
  file('running', '')
  file(
    'start',
    `#!/bin/sh\n${process.execPath} ${fileURLToPath(new URL('declare-queues.js', import.meta.url))} ` +
      `${file('broker.json', JSON.stringify({ host, port, user, password, names }))} && : >${folder}/running\n`,
  )
  file('stop', `#!/bin/sh\nrm -f ${folder}/running\n`)
  file('status', `#!/bin/sh\n[ -e ${folder}/running ] || exit 3\n`)
  file('password', password)
  file(
    'rabbitmqadmin.conf',
    `[bench]\nhostname = ${new URL(managementUrl).hostname}\nport = ${new URL(managementUrl).port}\nusername = ` +
      `manager\npassword = ${password}\n`,
  )
  chmodSync(join(folder, 'rabbitmqadmin.conf'), 0o600)
  const commands = Object.fromEntries(['start', 'stop', 'status'].map((verb) => [verb, ['sh', join(folder, verb)]]))
  file(
    'testops-admin.yaml',
    JSON.stringify({
      current: 'bench',
      deployments: {
        bench: {
          platform: 'host',
          host: { commands, environmentFile: join(folder, 'service.env'), logs: { file: join(folder, 'service.log') } },
          broker: {
            url: `amqp://${user}@${host}:${port}/%2F`,
            managementUrl,
            password: { file: join(folder, 'password') },
          },
        },
      },
    }),
  )
  return { ...process.env, XDG_STATE_HOME: join(folder, 'state') }
}

/** Runs `work` on a connection and closes it: while the service's user has one, its queues are not touched. */
async function onChannel({ host, port, user, password }, work) {
  const connection = await amqp.connect({ hostname: host, port, username: user, password })
  try {
    return await work(await connection.createConfirmChannel())
  } finally {
    await connection.close()
  }
}

async function fill(server) {
  await onChannel(server, async (channel) => {
    for (const name of names) await channel.deleteQueue(name)
    await channel.deleteExchange('work')
    await channel.assertExchange('work', 'direct', { durable: true })
    for (const name of names) {
      await channel.assertQueue(name, { durable: false })
      await channel.bindQueue(name, 'work', name)
      for (let index = 0; index < messages; index += 1)
        channel.publish('work', name, Buffer.from(String(index)), { persistent: true, messageId: String(index) })
    }
    await channel.waitForConfirms()
  })
}

/** Throws if a queue is not durable, or has lost a message. */
async function look(server, which) {
  await onChannel(server, async (channel) => {
    for (const name of which) {
      await channel.assertQueue(name, { durable: true })
      const { messageCount } = await channel.checkQueue(name)
      if (messageCount !== messages) throw new Error(`${name} holds ${messageCount} messages`)
    }
  })
}

function managementOf({ user, password, managementUrl }) {
  const headers = {
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    'content-type': 'application/json',
  }
  return async (method, path, body) => {
    const answer = await fetch(`${managementUrl}${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text ? JSON.parse(text) : null
  }
}

/** Downloads the rabbitmqadmin that the broker's management plugin offers. */
async function rabbitmqadmin({ managementUrl }, folder) {
  const file = join(folder, 'rabbitmqadmin')
  writeFileSync(file, await (await fetch(`${managementUrl}/cli/rabbitmqadmin`)).text())
  execFileSync('python3', [file, '--version'])
  return file
}
