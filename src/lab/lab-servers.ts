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

/** Few enough that one program can use them all up within a second. */
const maxConnections = 40
/** Small enough to be filled within a second, large enough not to look full to begin with. */
const diskBytes = 512 * 1024 * 1024

const lines: readonly RabbitmqLine[] = ['3', '4.3']

/**
 * Sees to it that exactly the servers run which the lab is to have: starts what was never started, resumes what
 * stopped, stops the broker of the other line. Gives the names of those that were missing. Throws what starting a
 * server throws.
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
 * Makes the lab's broker one of that line, and gives whether it had to be exchanged: the other one has another
 * password. Throws UNAVAILABLE where the broker is not ours to exchange.
 */
export async function useBroker(lab: Lab, line: RabbitmqLine): Promise<boolean> {
  if (lab.state.currentLine === line) return false
  const { rabbitmq } = await serversOf(lab)
  if (rabbitmq.way === 'given') {
    throw new AdminError(
      'UNAVAILABLE',
      `this needs a RabbitMQ ${lineText(line)}, and the lab has a given one that it cannot exchange`,
      ['testops-admin lab down', command`unset TESTOPS_ADMIN_LAB_RABBITMQ_URL; testops-admin lab up --broker ${line}`],
    )
  }
  lab.progress(`exchanging the broker for RabbitMQ ${lineText(line)}`)
  await remember(lab, { currentLine: line })
  await reconcileServers(lab)
  return true
}

function lineText(line: RabbitmqLine): string {
  return line === '3' ? 'before 4.0' : 'of the line 4.3, which refuses transient queues'
}

/** Refuses what would stop, fill or limit a server that others use too. Throws UNAVAILABLE. */
export function assertOwn(servers: LabServers, kinds: readonly ServerKind[], what: string): void {
  for (const kind of kinds) {
    const record = servers[kind]
    if (record.way !== 'given') continue
    throw new AdminError(
      'UNAVAILABLE',
      `${what} needs a ${serverNames[kind]} of the lab's own; the one at ${record.host}:${record.port} was given`,
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
    progress(`starting ${serverNames[request.kind]} again`)
    await resumeServer(record, options)
    return true
  }
  // left by a start that was killed
  if (record) await removeServer(record)
  goOn(lab)
  const since = performance.now()
  const started = await startServer(request, options)
  const took = ((performance.now() - since) / 1000).toFixed(1)
  progress(
    `${serverNames[started.kind]} ${started.version} (${started.way}) at ${started.host}:${started.port}, after ${took} s`,
  )
  return true
}

/** Waits for all, also where one fails: nothing goes on behind the caller's back. */
async function allOrNothing<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<T>).value)
}
