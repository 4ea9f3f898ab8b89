import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../../core/error.ts'
import { writeRecord } from '../record.ts'
import { serverNames } from '../types.ts'
import type { Programs, ProgramsOf, ServerKind, ServerRecord, ServerRequest, StartOptions } from '../types.ts'
import { assertDisk, removeDisk } from './disk.ts'
import type { Detached, LocalKind, LocalRecord } from './processes.ts'
import { localPostgres } from './postgres.ts'
import { accepts, assertPortFree, loopback, waitUntilFree } from './ports.ts'
import { killAll, processesOf, signalProcess, startDetached, waitUntilGone } from './processes.ts'
import { localRabbitmq } from './rabbitmq.ts'

const localRedis: LocalKind = {
  plan: async (record, request) => ({
    ...record,
    user: 'default',
    password: request.redis?.password?.reveal() ?? '',
    database: '0',
  }),
  async prepare(record, request) {
    await mkdir(dataDirectory(record), { mode: 0o700 })
    const lines = [
      `bind ${loopback}`,
      `port ${record.port}`,
      `dir ${JSON.stringify(dataDirectory(record))}`,
      `databases ${request.redis?.databases ?? 16}`,
      // written data survives a kill, without waiting for the disk
      'save ""',
      'appendonly yes',
      'appendfsync no',
      ...(record.password ? [`requirepass ${JSON.stringify(record.password)}`] : []),
    ]
    await writeFile(configuration(record), `${lines.join('\n')}\n`, { mode: 0o600 })
    return record
  },
  ports: (record) => [record.port],
  launch: (record) =>
    startDetached(record.id, {
      file: programs(record).server,
      arguments: [configuration(record)],
      environment: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      workingDirectory: record.local.home,
      account: null,
      log: join(record.directory, 'output.log'),
    }),
  ready: (record) => accepts(loopback, record.port),
  async askToEnd(_record, pids) {
    for (const pid of pids) signalProcess(pid, 'SIGTERM')
  },
  dataDirectory,
  tidy: async () => {},
}

function dataDirectory(record: LocalRecord): string {
  return join(record.local.home, 'data')
}

function configuration(record: LocalRecord): string {
  return join(record.local.home, 'redis.conf')
}

function programs(record: LocalRecord): ProgramsOf<'redis'> {
  if (record.local.programs.kind !== 'redis') throw new Error('not a record of Redis')
  return record.local.programs
}

const kinds: Readonly<Record<ServerKind, LocalKind>> = {
  postgres: localPostgres,
  rabbitmq: localRabbitmq,
  redis: localRedis,
}

const startTimeoutMs = 120_000
const endTimeoutMs = 30_000
const portsTimeoutMs = 10_000

/** Starts a server from programs. Records everything before it makes it. */
export async function startLocal(
  draft: ServerRecord,
  programs: Programs,
  request: ServerRequest,
  options: StartOptions,
): Promise<ServerRecord> {
  const kind = kinds[draft.kind]
  const planned = await kind.plan(
    { ...draft, version: programs.version, local: { programs, home: draft.directory, account: null } },
    request,
  )
  await writeRecord(planned)
  await mkdir(planned.local.home, { recursive: true, mode: 0o700 })
  const prepared = await kind.prepare(planned, request, options)
  await writeRecord(prepared)
  return run(prepared, options)
}

export async function resumeLocal(record: LocalRecord, options: StartOptions): Promise<ServerRecord> {
  if (find(record).length > 0) {
    if (await kinds[record.kind].ready(record)) return record
    await endLocal(record, 'kill')
  }
  await assertDisk(record)
  await writeRecord({ ...record, state: 'starting' })
  return run(record, options)
}

export async function endLocal(record: LocalRecord, how: 'graceful' | 'kill'): Promise<void> {
  const pids = find(record)
  if (how === 'graceful' && pids.length > 0) {
    await kinds[record.kind].askToEnd(record, pids)
    await waitUntilGone(() => serving(record), endTimeoutMs)
  }
  await killAll(() => find(record))
  // an exiting process loses its environment, which identifies it, before its sockets
  if (pids.length > 0) await waitUntilFree(kinds[record.kind].ports(record), portsTimeoutMs)
}

export async function localRunning(record: LocalRecord): Promise<boolean> {
  return find(record).length > 0 && (await accepts(loopback, record.port))
}

/** Stops the server and removes its folders, its disk and everything else of its own. */
export async function removeLocal(record: LocalRecord): Promise<void> {
  await endLocal(record, 'kill')
  await kinds[record.kind].tidy(record)
  await removeDisk(record.local.disk)
  await rm(record.local.home, { recursive: true, force: true, maxRetries: 5 })
}

async function run(record: LocalRecord, options: StartOptions): Promise<ServerRecord> {
  for (const port of kinds[record.kind].ports(record)) await assertPortFree(port, serverNames[record.kind])
  try {
    await untilReady(record, await kinds[record.kind].launch(record), options)
  } catch (error) {
    await endLocal(record, 'kill')
    throw error
  }
  const started: ServerRecord = { ...record, state: 'started' }
  await writeRecord(started)
  return started
}

async function untilReady(record: LocalRecord, main: Detached, options: StartOptions): Promise<void> {
  const name = serverNames[record.kind]
  const deadline = Date.now() + startTimeoutMs
  while (!(await kinds[record.kind].ready(record))) {
    if (options.signal?.aborted) throw new AdminError('INTERRUPTED', `the start of ${name} was interrupted`)
    const exit = main.exit()
    if (exit)
      throw new AdminError(
        'UNAVAILABLE',
        `${name} ${record.version} ${exit} instead of starting: ${await lastWords(record)}`,
      )
    if (Date.now() > deadline) {
      throw new AdminError(
        'TIMED_OUT',
        `${name} ${record.version} did not start within ${startTimeoutMs / 1000} s: ${await lastWords(record)}`,
      )
    }
    await sleep(50)
  }
}

function find(record: LocalRecord): readonly number[] {
  return processesOf(record.id, kinds[record.kind].dataDirectory(record))
}

/**
 * Processes to wait for in a clean stop. RabbitMQ's epmd never exits by itself: it is killed once the node has exited.
 */
function serving(record: LocalRecord): readonly number[] {
  const pids = find(record)
  return record.kind === 'rabbitmq' && pids.length === 1 ? [] : pids
}

/** Bytes of free space below which no server starts. */
const leastBytes = 1024 * 1024

async function isFull(folder: string): Promise<boolean> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize < leastBytes,
    () => false,
  )
}

async function lastWords(record: LocalRecord): Promise<string> {
  // a server that cannot write reports it badly, or not at all
  for (const folder of new Set([record.directory, record.local.home])) {
    if (await isFull(folder)) return `no space is left on the disk of ${folder}`
  }
  try {
    const lines = (await readFile(join(record.directory, 'output.log'), 'utf8'))
      .split('\n')
      .filter((line) => line.trim())
    return lines.slice(-3).join(' / ').slice(-600)
  } catch {
    return 'it printed nothing'
  }
}
