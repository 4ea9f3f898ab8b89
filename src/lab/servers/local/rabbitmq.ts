import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import { join } from 'node:path'
import { AdminError, messageOf } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { ProgramsOf, ServerRecord } from '../types.ts'
import { brokerLines, brokerPlugins } from '../types.ts'
import { accepts, freePort, loopback } from './ports.ts'
import type { LocalKind, LocalRecord } from './processes.ts'
import { signalProcess, startDetached } from './processes.ts'

/** True if RabbitMQ's HTTP API answers our user. */
export async function managementAnswers(record: ServerRecord): Promise<boolean> {
  try {
    await askManagement(record)
    return true
  } catch {
    return false
  }
}

/**
 * Gets RabbitMQ's overview from its HTTP API. Avoids `fetch`, which keeps its connection open and so delays the
 * broker's stop. Throws an `Error` if it gets no overview.
 */
export function askManagement(record: ServerRecord): Promise<{ rabbitmq_version?: string }> {
  const url = `${record.managementUrl}/api/overview`
  return new Promise((resolve, reject) => {
    const auth = `${record.user}:${record.password}`
    const ask = (url.startsWith('https:') ? requestTls : request)(
      url,
      { auth, agent: false, timeout: 5000 },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.once('error', reject)
        answer.once('end', () => {
          try {
            if (answer.statusCode !== 200) throw new Error(`its HTTP API returned ${answer.statusCode}`)
            resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')) as { rabbitmq_version?: string })
          } catch (error) {
            reject(error instanceof Error ? error : new Error(messageOf(error)))
          }
        })
      },
    )
    ask.once('timeout', () => ask.destroy(new Error('its HTTP API timed out after 5 s')))
    ask.once('error', (error) =>
      reject(new Error(`its HTTP API at ${record.managementUrl}: ${messageOf(error)}`, { cause: error })),
    )
    ask.end()
  })
}

export const localRabbitmq: LocalKind = {
  async plan(record, request) {
    const managementPort = await freePort(record.directory)
    const epmdPort = await freePort(record.directory)
    const nodePort = await freePort(record.directory)
    return {
      ...record,
      user: 'lab',
      password: randomBytes(18).toString('base64url'),
      database: '/',
      line: request.rabbitmq?.line ?? '3',
      managementPort,
      managementUrl: `http://${loopback}:${managementPort}`,
      local: { ...record.local, epmdPort, nodePort },
    }
  },
  async prepare(record) {
    const { home } = record.local
    for (const folder of ['home', 'conf', 'data', 'log']) await mkdir(join(home, folder), { mode: 0o700 })
    const files: Readonly<Record<string, string>> = {
      'home/.erlang.cookie': randomBytes(15).toString('hex'),
      'conf/enabled_plugins': `[${brokerPlugins.join()}].\n`,
      'conf/rabbitmq.conf': `${configuration(record).join('\n')}\n`,
      // so that Erlang finds its own machine even if /etc/hosts is missing
      'conf/inetrc': '{host, {127,0,0,1}, ["localhost"]}.\n{lookup, [file, native]}.\n',
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(home, name), text, { mode: name.endsWith('cookie') ? 0o400 : 0o600 })
    }
    return record
  },
  ports: (record) =>
    [record.port, record.managementPort, record.local.epmdPort, record.local.nodePort].filter(
      (port) => port !== undefined,
    ),
  async launch(record) {
    const common = { environment: environment(record), workingDirectory: record.local.home, account: null }
    // our own child in the foreground: else the broker starts epmd as a daemon that outlives it
    const epmd = await startDetached(record.id, {
      ...common,
      file: await findErlang(record, 'epmd'),
      arguments: ['-port', String(record.local.epmdPort), '-address', loopback],
      log: join(record.directory, 'output.log'),
    })
    for (let tries = 0; !(await accepts(loopback, record.local.epmdPort ?? 0)); tries += 1) {
      if (epmd.exit() || tries > 100)
        throw new AdminError('UNAVAILABLE', `Erlang's epmd ${epmd.exit() ?? 'does not answer'}`)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    return startDetached(record.id, {
      ...common,
      file: join(programs(record).scripts, 'rabbitmq-server'),
      arguments: [],
      log: join(record.directory, 'output.log'),
    })
  },
  async ready(record) {
    return (await accepts(loopback, record.port)) && managementAnswers(record)
  },
  async askToEnd(record, pids) {
    const node = await nodeProcess(record)
    if (node !== null && pids.includes(node)) signalProcess(node, 'SIGTERM')
    // the node has exited or never started: the rest needs no clean stop
    else for (const pid of pids) signalProcess(pid, 'SIGKILL')
  },
  dataDirectory: () => null,
  tidy: async () => {},
}

/** Returns the command and environment that run `rabbitmqctl` for that node. */
export function controlOf(record: LocalRecord): { command: [string]; environment: Readonly<Record<string, string>> } {
  return { command: [join(programs(record).scripts, 'rabbitmqctl')], environment: environment(record) }
}

/** Runs `rabbitmqctl ARGS` on that node and returns its output. Throws FAILED with its last lines. */
export async function controlLocal(record: LocalRecord, args: readonly string[]): Promise<string> {
  const { command, environment: own } = controlOf(record)
  const ran = await tryProgram(command[0], args, {
    environment: own,
    workingDirectory: record.local.home,
    timeoutMs: 60_000,
  })
  if (!ran.ok) throw new AdminError('FAILED', `rabbitmqctl ${args[0] ?? ''} failed: ${ran.message}`)
  return ran.stdout
}

function configuration(record: LocalRecord): readonly string[] {
  return [
    `listeners.tcp.1 = ${loopback}:${record.port}`,
    `management.tcp.ip = ${loopback}`,
    `management.tcp.port = ${record.managementPort}`,
    `default_user = ${record.user}`,
    `default_pass = ${record.password}`,
    ...brokerLines(record.line),
  ]
}

function environment(record: LocalRecord): Readonly<Record<string, string>> {
  const { home } = record.local
  const interfaceArgument = '-kernel inet_dist_use_interface {127,0,0,1}'
  return {
    PATH: [...programs(record).erlang, '/usr/bin', '/bin'].join(':'),
    LANG: 'C.UTF-8',
    HOME: join(home, 'home'),
    ERL_INETRC: join(home, 'conf/inetrc'),
    ERL_EPMD_PORT: String(record.local.epmdPort),
    ERL_EPMD_ADDRESS: loopback,
    RABBITMQ_NODENAME: 'lab@localhost',
    RABBITMQ_DIST_PORT: String(record.local.nodePort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: interfaceArgument,
    RABBITMQ_CTL_ERL_ARGS: interfaceArgument,
    RABBITMQ_MNESIA_BASE: join(home, 'data'),
    RABBITMQ_LOG_BASE: join(home, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(home, 'conf/enabled_plugins'),
    RABBITMQ_CONFIG_FILE: join(home, 'conf/rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_PID_FILE: join(home, 'pid'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(home, 'conf'),
  }
}

async function nodeProcess(record: LocalRecord): Promise<number | null> {
  try {
    return Number.parseInt(await readFile(join(record.local.home, 'pid'), 'utf8'), 10)
  } catch {
    return null
  }
}

async function findErlang(record: LocalRecord, name: string): Promise<string> {
  const ran = await tryProgram('/bin/sh', ['-c', `command -v ${name}`], { environment: environment(record) })
  if (ran.ok) return ran.stdout.trim()
  throw new AdminError('UNAVAILABLE', `Erlang's program ${name} is not installed`, [`apt-get install erlang-base`])
}

function programs(record: LocalRecord): ProgramsOf<'rabbitmq'> {
  if (record.local.programs.kind !== 'rabbitmq') throw new Error('not a record of RabbitMQ')
  return record.local.programs
}
