import { AdminError, messageOf } from '../../core/error.ts'
import { askManagement } from './local/management.ts'
import { postgresClient } from './postgres-client.ts'
import { serverNames } from './types.ts'
import type { ServerRecord } from './types.ts'
import { isOfLine, lineNames, oldestPostgres } from './versions.ts'
import type { Suggestion } from '../../core/shell-command.ts'

const timeoutMs = 5000

/**
 * Asks a given server for its version, as the given user. Throws UNAUTHENTICATED if the login fails, UNAVAILABLE if the
 * version does not fit.
 */
export async function givenVersion(
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
  if (!version) throw new Error('it does not report its version')
  return version.split(' ')[0] ?? version
}
