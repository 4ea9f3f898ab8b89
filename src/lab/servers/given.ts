import { AdminError, messageOf } from '../../core/error.ts'
import { redactUrl } from '../../core/secret.ts'
import { accepts } from './local/ports.ts'
import { writeRecord } from './record.ts'
import { isOfLine, lineNames, oldestPostgres, serverNames } from './types.ts'
import type { ServerKind, ServerRecord, ServerRequest } from './types.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { askManagement } from './local/rabbitmq.ts'
import { postgresClient } from './postgres-client.ts'

const variables: Readonly<Record<ServerKind, string>> = {
  postgres: 'TESTOPS_ADMIN_LAB_POSTGRES_URL',
  rabbitmq: 'TESTOPS_ADMIN_LAB_RABBITMQ_URL',
  redis: 'TESTOPS_ADMIN_LAB_REDIS_URL',
}
/** The variable that forces one way of getting servers. */
export const wayVariable = 'TESTOPS_ADMIN_LAB_SERVERS'
const managementVariable = 'TESTOPS_ADMIN_LAB_RABBITMQ_MANAGEMENT_URL'

const defaultPorts: Readonly<Record<ServerKind, number>> = { postgres: 5432, rabbitmq: 5672, redis: 6379 }

/** Returns the variable that gives a server of this kind; null if it is not set. */
export function givenVariable(kind: ServerKind, environment: NodeJS.ProcessEnv): string | null {
  return environment[variables[kind]] ? variables[kind] : null
}

export function givenVariableName(kind: ServerKind): string {
  return variables[kind]
}

/** Uses a server that somebody else runs. It is never stopped or removed. */
export async function takeGiven(
  draft: ServerRecord,
  request: ServerRequest,
  environment: NodeJS.ProcessEnv,
): Promise<ServerRecord> {
  const { kind } = draft
  const url = parse(variables[kind], environment[variables[kind]] ?? '')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port ? Number(url.port) : defaultPorts[kind]
  if (!(await accepts(host, port, 5000))) {
    throw new AdminError(
      'UNREACHABLE',
      `${variables[kind]} points to ${serverNames[kind]} at ${host}:${port}, but nothing answers there`,
      ['start that server', startOwn(variables[kind], environment)],
    )
  }
  const path = decodeURIComponent(url.pathname.slice(1))
  const record: ServerRecord = {
    ...draft,
    state: 'started',
    version: '',
    host,
    port,
    user:
      decodeURIComponent(url.username) || (kind === 'rabbitmq' ? 'guest' : kind === 'redis' ? 'default' : 'postgres'),
    password: decodeURIComponent(url.password) || (kind === 'rabbitmq' ? 'guest' : ''),
    database: path || (kind === 'redis' ? '0' : kind === 'rabbitmq' ? '/' : 'postgres'),
    ...(kind === 'rabbitmq' ? { line: request.rabbitmq?.line ?? '3', ...management(host, environment) } : {}),
  }
  const taken = {
    ...record,
    version: await givenVersion(record, {
      variable: variables[kind],
      startOwn: startOwn(variables[kind], environment),
    }),
  }
  await writeRecord(taken)
  return taken
}

/** Returns the command that makes the lab start its own server instead of using a given one. */
function startOwn(variable: string, environment: NodeJS.ProcessEnv): Suggestion {
  const forced = environment[wayVariable] === 'given' ? [wayVariable] : []
  return command`unset ${[...forced, variable]}   # the lab then starts its own server`
}

function management(host: string, environment: NodeJS.ProcessEnv): { managementPort: number; managementUrl: string } {
  const url = parse(
    managementVariable,
    environment[managementVariable] ?? `http://${host.includes(':') ? `[${host}]` : host}:15672`,
  )
  const managementPort = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  url.username = ''
  url.password = ''
  return { managementPort, managementUrl: url.href.replace(/\/$/, '') }
}

function parse(variable: string, text: string): URL {
  try {
    const url = new URL(text)
    if (url.hostname) return url
    throw new Error('the address has no host')
  } catch (error) {
    throw new AdminError('CONFIGURATION', `${variable}: invalid address ${redactUrl(text)}: ${messageOf(error)}`)
  }
}

const timeoutMs = 5000

/**
 * Asks a given server for its version, as the given user. Throws UNAUTHENTICATED if the login fails, UNAVAILABLE if the
 * version does not fit.
 */
async function givenVersion(
  record: ServerRecord,
  { variable, startOwn }: { variable: string; startOwn: Suggestion },
): Promise<string> {
  let version: string
  try {
    version = await ask(record)
  } catch (error) {
    const where = `${serverNames[record.kind]} at ${record.host}:${record.port}`
    throw new AdminError('UNAUTHENTICATED', `${variable}: cannot use ${where}: ${messageOf(error)}`, [startOwn], {
      cause: error,
    })
  }
  const { line } = record
  if (record.kind === 'postgres' && Number.parseInt(version, 10) < oldestPostgres) {
    throw new AdminError(
      'UNAVAILABLE',
      `${variable} points to PostgreSQL ${version}, but the lab needs ${oldestPostgres} or later`,
      [startOwn],
    )
  }
  if (line && !isOfLine(version, line)) {
    throw new AdminError(
      'UNAVAILABLE',
      `${variable} points to RabbitMQ ${version}, but the lab needs ${lineNames[line]}`,
      [startOwn],
    )
  }
  return version
}

async function ask(record: ServerRecord): Promise<string> {
  const { host, port, user, password, database } = record
  if (record.kind === 'postgres') {
    const client = await postgresClient(record, { connectMs: timeoutMs, queryMs: timeoutMs })
    try {
      await client.connect()
      return firstWord((await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version)
    } finally {
      await client.end()
    }
  }
  if (record.kind === 'redis') {
    // the bundled package exports everything through its default export
    const { default: ioredis } = await import('ioredis')
    const names = { ...(password ? { password } : {}), ...(user === 'default' ? {} : { username: user }) }
    const client = new ioredis.Redis({
      host,
      port,
      db: Number(database),
      ...names,
      lazyConnect: true,
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      retryStrategy: () => null,
    })
    client.on('error', () => {}) // `connect` and `info` report it
    try {
      await client.connect()
      return firstWord(/redis_version:(\S+)/.exec(await client.info('server'))?.[1])
    } finally {
      client.disconnect()
    }
  }
  return firstWord((await askManagement(record)).rabbitmq_version)
}

function firstWord(version: string | undefined): string {
  if (!version) throw new Error('the server does not report its version')
  return version.split(' ')[0] ?? version
}
