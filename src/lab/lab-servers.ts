import { Secret } from '../core/secret.ts'
import { AdminError } from '../core/error.ts'
import { databaseAnswers } from './access/database.ts'
import { allServers, goOn, remember, serversOf } from './lab.ts'
import type { Lab, LabServers } from './lab.ts'
import {
  assertData,
  readServer,
  removeServer,
  resumeServer,
  serverNames,
  serverRunning,
  startServer,
  stopServer,
} from './servers/index.ts'
import type { RabbitmqLine, ServerKind, ServerRecord, ServerRequest } from './servers/index.ts'
import { command } from '../core/shell-command.ts'

/** PostgreSQL's connection limit, low enough for one program to use up within a second. */
const maxConnections = 40
/** Bytes of PostgreSQL's disk: small enough to fill within a second, large enough not to look full at first. */
const diskBytes = 512 * 1024 * 1024

const lines: readonly RabbitmqLine[] = ['3', '4.3']

/**
 * Makes sure that exactly the lab's servers are running. Starts missing ones, restarts stopped ones, stops the broker
 * of the other line. Returns the names and versions of those it started. Throws what starting a server throws.
 */
export async function reconcileServers(lab: Lab): Promise<string[]> {
  const { currentLine, sessionsPassword } = lab.state
  for (const record of await allServers(lab.layout)) await assertData(record)
  const others = lines.filter((line) => line !== currentLine)
  let brokerPort: number | undefined
  for (const line of others) {
    const other = await readServer(lab.layout.server('rabbitmq', line))
    if (!other) continue
    brokerPort = other.port
    if (await serverRunning(other)) await stopServer(other)
  }
  const missing = await allOrNothing([
    ensure(lab, {
      kind: 'postgres',
      directory: lab.layout.server('postgres'),
      postgres: { maxConnections, diskBytes },
    }),
    ensure(lab, {
      kind: 'rabbitmq',
      directory: lab.layout.server('rabbitmq', currentLine),
      rabbitmq: { line: currentLine },
      ...(brokerPort === undefined ? {} : { port: brokerPort }),
    }),
    ensure(lab, {
      kind: 'redis',
      directory: lab.layout.server('redis'),
      redis: { password: new Secret(sessionsPassword) },
    }),
  ])
  const servers = await serversOf(lab)
  if (missing.includes(true)) await databaseAnswers(servers)
  return Object.values(servers)
    .filter((_, index) => missing[index])
    .map((record: ServerRecord) => `${serverNames[record.kind]} ${record.version}`)
}

/**
 * Switches the lab to a broker of that line. Returns true if it replaced the broker, since the new one has another
 * password. Throws UNAVAILABLE if the broker is a given one.
 */
export async function useBroker(lab: Lab, line: RabbitmqLine): Promise<boolean> {
  if (lab.state.currentLine === line) return false
  const { rabbitmq } = await serversOf(lab)
  if (rabbitmq.way === 'given') {
    throw new AdminError(
      'UNAVAILABLE',
      `this fault needs a RabbitMQ ${lineText(line)}, but the lab uses the broker in ` +
        'TESTOPS_ADMIN_LAB_RABBITMQ_URL and cannot replace it',
      ['testops-admin lab down', command`unset TESTOPS_ADMIN_LAB_RABBITMQ_URL; testops-admin lab up --broker ${line}`],
    )
  }
  lab.progress(`replacing the broker with a RabbitMQ ${lineText(line)}`)
  await remember(lab, { currentLine: line })
  await reconcileServers(lab)
  return true
}

function lineText(line: RabbitmqLine): string {
  return line === '3' ? 'before 4.0' : 'that refuses transient queues'
}

/**
 * Throws UNAVAILABLE if one of these servers is given: others use it too, so it must not be stopped, filled or limited.
 */
export function assertOwn(servers: LabServers, kinds: readonly ServerKind[], what: string): void {
  for (const kind of kinds) {
    const record = servers[kind]
    if (record.way !== 'given') continue
    throw new AdminError(
      'UNAVAILABLE',
      `the fault ${what} needs the lab's own ${serverNames[kind]}, but the lab uses your ${serverNames[kind]} ` +
        `at ${record.host}:${record.port}`,
      ['testops-admin lab down', 'unset TESTOPS_ADMIN_LAB_…_URL; testops-admin lab up'],
    )
  }
}

async function ensure(lab: Lab, request: ServerRequest): Promise<boolean> {
  const { progress, signal } = lab
  const options = { progress, ...(signal ? { signal } : {}) }
  const record = await readServer(request.directory)
  if (record?.state === 'started') {
    if (await serverRunning(record)) return false
    progress(`restarting ${serverNames[request.kind]}`)
    await resumeServer(record, options)
    return true
  }
  // left by a killed start
  if (record) await removeServer(record)
  goOn(lab)
  const since = performance.now()
  const started = await startServer(request, options)
  const took = ((performance.now() - since) / 1000).toFixed(1)
  progress(
    `${serverNames[started.kind]} ${started.version} (${started.way}) is ready at ` +
      `${started.host}:${started.port} after ${took} s`,
  )
  return true
}

/** Waits for all of them, so that none is still running when it returns. Throws the first failure. */
async function allOrNothing<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<T>).value)
}
