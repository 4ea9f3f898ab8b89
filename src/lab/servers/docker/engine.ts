import { request } from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type * as Testcontainers from 'testcontainers'
import type { ContainerRuntimeClient } from 'testcontainers'
import { AdminError, codeOf, messageOf } from '../../../core/error.ts'
import { redactUrl } from '../../../core/secret.ts'
import { managementAnswers } from '../local/rabbitmq.ts'
import { cached, cacheFolder } from '../packages/cache.ts'
import { installFromNpm } from '../packages/npm.ts'
import type { RabbitmqLine, ServerKind, ServerRecord, ServerRequest, StartOptions } from '../types.ts'
import { brokerLines, brokerPlugins } from '../types.ts'

/** The newest testcontainers that runs on Node 20. */
const testcontainersVersion = '11.14.0'

const deadlineMs = 2000

const startEngine = 'start Docker, then try again'

/**
 * Checks that a Docker engine answers in time, since a client may be installed without one. Throws UNAVAILABLE if none
 * answers.
 */
export async function assertEngine(environment: NodeJS.ProcessEnv): Promise<void> {
  const named = engineAddress(environment)
  const answers = await Promise.all((named === null ? usualSockets(environment) : [named]).map(ping))
  if (answers.includes(true)) return
  if (named === null) throw new AdminError('UNAVAILABLE', 'no Docker engine answers', [startEngine])
  throw new AdminError('UNAVAILABLE', 'no Docker engine answers at DOCKER_HOST', [
    'unset DOCKER_HOST, or start Docker at the address in DOCKER_HOST',
  ])
}

/** Returns the engine's address from the environment; null means the usual places. */
export function engineAddress(environment: NodeJS.ProcessEnv): string | null {
  return environment['DOCKER_HOST'] || null
}

/**
 * Connects to the engine through testcontainers, which knows where to find engines. Fetches testcontainers if it is not
 * installed. Throws UNAVAILABLE if it cannot be fetched, UNREACHABLE if the engine does not answer.
 */
export async function connectEngine(
  address: string | null,
  options: StartOptions,
): Promise<Testcontainers.ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await loadTestcontainers(options)
  // testcontainers reads the address only from this variable
  if (address) process.env['DOCKER_HOST'] = address
  try {
    return await getContainerRuntimeClient()
  } catch (error) {
    const where = address ? ` at ${redactUrl(address)}` : ''
    throw new AdminError(
      'UNREACHABLE',
      `the Docker engine${where} does not answer: ${messageOf(error)}`,
      [startEngine],
      { cause: error },
    )
  }
}

export async function loadTestcontainers(options: StartOptions): Promise<typeof Testcontainers> {
  // servers outlive the process that starts them, so the reaper of testcontainers must not stop them
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
  try {
    return await import('testcontainers')
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
  }
  const folder = await cached(
    cacheFolder(options.environment ?? process.env),
    `testcontainers-${testcontainersVersion}`,
    async (temporary) => {
      options.progress(`fetching testcontainers ${testcontainersVersion} from npm (once)`)
      await installFromNpm(temporary, `testcontainers@${testcontainersVersion}`, options)
    },
    options,
  )
  return createRequire(join(folder, 'package.json'))('testcontainers') as typeof Testcontainers
}

function usualSockets(environment: NodeJS.ProcessEnv): readonly string[] {
  const runtime = environment['XDG_RUNTIME_DIR']
  const paths = [
    '/var/run/docker.sock',
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
  ]
  return [...paths, ...(runtime ? [join(runtime, 'docker.sock')] : [])].map((path) => `unix://${path}`)
}

function ping(address: string): Promise<boolean> {
  const target = targetOf(address)
  // another kind of address: testcontainers will try it
  if (!target) return Promise.resolve(true)
  return new Promise((resolve) => {
    const asked = request(
      { ...target, path: '/_ping', agent: false, signal: AbortSignal.timeout(deadlineMs) },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    asked.once('error', () => resolve(false))
    asked.end()
  })
}

function targetOf(address: string): { socketPath: string } | { host: string; port: number } | null {
  if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) }
  if (!/^(tcp|http):\/\//.test(address)) return null
  const url = new URL(address.replace(/^tcp:/, 'http:'))
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || 2375 }
}

/** True if the server in the container serves clients. The engine accepts connections long before that. */
export async function dockerReady(client: ContainerRuntimeClient, record: ServerRecord): Promise<boolean> {
  if (record.kind === 'redis') return answersTo(record.host, record.port, 'PING\r\n')
  if (record.kind === 'rabbitmq') {
    return (await managementAnswers(record)) && answersTo(record.host, record.port, 'AMQP\0\0\x09\x01')
  }
  return (await tryInside(client, record, ['pg_isready', '-q', '-h', '127.0.0.1'])) !== null
}

const versionCommands: Readonly<Record<ServerKind, string[]>> = {
  postgres: ['postgres', '--version'],
  redis: ['redis-server', '--version'],
  rabbitmq: ['rabbitmqctl', '--node', 'none', 'version'],
}

/** Returns the version that the program in the container reports, or `unknown`. */
export async function saysVersion(client: ContainerRuntimeClient, record: ServerRecord): Promise<string> {
  const said = (await tryInside(client, record, versionCommands[record.kind])) ?? ''
  return /(?<!\d)\d+\.\d+(\.\d+)?/.exec(said)?.[0] ?? 'unknown'
}

/** Returns the last three lines of the container's output. */
export async function lastWords(client: ContainerRuntimeClient, record: ServerRecord): Promise<string> {
  const container = client.container.getById(record.container?.containerId ?? '')
  const said = await container.logs({ stdout: true, stderr: true, tail: 3 })
  const pieces: string[] = []
  // each piece has a head of eight bytes: the first says which stream, the last four the piece's length
  for (let at = 0; at + 8 <= said.length; ) {
    const end = at + 8 + said.readUInt32BE(at + 4)
    pieces.push(said.toString('utf8', at + 8, end).trim())
    at = end
  }
  return pieces.join(' / ')
}

async function tryInside(
  client: ContainerRuntimeClient,
  record: ServerRecord,
  command: string[],
): Promise<string | null> {
  try {
    const { output, exitCode } = await client.container.exec(
      client.container.getById(record.container?.containerId ?? ''),
      command,
    )
    return exitCode === 0 ? output : null
  } catch {
    return null // it has exited
  }
}

function answersTo(host: string, port: number, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 }, () => socket.write(question, 'latin1'))
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', () => done(true))
    for (const event of ['timeout', 'error', 'close'] as const) socket.once(event, () => done(false))
  })
}

/** The official image to run, with its settings. Secrets go into the environment, never into an argument. */
export interface ContainerPlan {
  image: string
  ports: { main: number; management?: number }
  environment: Readonly<Record<string, string>>
  command: readonly string[]
}

/** The path of PostgreSQL's data on a small disk of its own. */
export const diskPath = '/disk'

/** Newest image tag of each line of RabbitMQ. */
const brokerTags: Readonly<Record<RabbitmqLine, string>> = {
  '3': '3.13',
  '4.0': '4.2',
  '4.3': '4.3',
  '4.3-permitting': '4.3',
}

/** Returns a command that writes the configuration from the environment to a file, then becomes the server. */
const withConfiguration = (file: string, then: string) => [
  'sh',
  '-c',
  `printf '%s' "$LAB_CONFIGURATION" > ${file} && ${then}`,
]

export function containerPlan(record: ServerRecord, request: ServerRequest): ContainerPlan {
  if (record.kind === 'postgres') return postgres(record, request)
  if (record.kind === 'redis') return redis(record, request)
  return rabbitmq(record)
}

function postgres(record: ServerRecord, request: ServerRequest): ContainerPlan {
  const settings = [
    `max_connections=${request.postgres?.maxConnections ?? 100}`,
    'fsync=off',
    'full_page_writes=off',
    'timezone=UTC',
    'dynamic_shared_memory_type=mmap',
    'max_parallel_workers_per_gather=0',
    'max_wal_senders=0',
    'max_replication_slots=0',
    'wal_level=minimal',
  ]
  return {
    image: 'postgres:17',
    ports: { main: 5432 },
    environment: {
      POSTGRES_USER: record.user,
      POSTGRES_PASSWORD: record.password,
      ...(request.postgres?.diskBytes
        ? { PGDATA: `${diskPath}/data`, POSTGRES_INITDB_WALDIR: '/var/lib/postgresql/wal' }
        : {}),
    },
    command: ['docker-entrypoint.sh', 'postgres', ...settings.flatMap((setting) => ['-c', setting])],
  }
}

function redis(record: ServerRecord, request: ServerRequest): ContainerPlan {
  const lines = [
    'dir /data',
    `databases ${request.redis?.databases ?? 16}`,
    'save ""',
    'appendonly yes',
    'appendfsync no',
    ...(record.password ? [`requirepass ${JSON.stringify(record.password)}`] : ['protected-mode no']),
  ]
  return {
    image: 'redis:7',
    ports: { main: 6379 },
    environment: { LAB_CONFIGURATION: `${lines.join('\n')}\n` },
    command: withConfiguration('/data/redis.conf', 'exec redis-server /data/redis.conf'),
  }
}

function rabbitmq(record: ServerRecord): ContainerPlan {
  const line = record.line ?? '3'
  const lines = [`default_user = ${record.user}`, `default_pass = ${record.password}`, ...brokerLines(line)]
  return {
    image: `rabbitmq:${brokerTags[line]}-management`,
    ports: { main: 5672, management: 15672 },
    environment: {
      LAB_CONFIGURATION: `${lines.join('\n')}\n`,
    },
    command: withConfiguration(
      '/etc/rabbitmq/conf.d/90-lab.conf',
      `printf '%s\\n' '[${brokerPlugins.join()}].' > /etc/rabbitmq/enabled_plugins && ` +
        'exec docker-entrypoint.sh rabbitmq-server',
    ),
  }
}
