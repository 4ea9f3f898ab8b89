import { randomBytes } from 'node:crypto'
import { appendFile, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { Account, ProgramsOf } from '../types.ts'
import { makeDisk, preloadEnvironment } from './disk.ts'
import type { LocalKind, LocalRecord } from './processes.ts'
import { accepts, loopback } from './ports.ts'
import { markOf, signalProcess, startDetached } from './processes.ts'

export const localPostgres: LocalKind = {
  async plan(record) {
    const account = await unprivilegedAccount()
    return {
      ...record,
      user: 'postgres',
      password: randomBytes(18).toString('base64url'),
      database: 'postgres',
      local: {
        ...record.local,
        account,
        // the other account must reach it, even if the lab's folder belongs to root
        home: account ? `/var/tmp/testops-admin-${record.id}` : record.local.home,
      },
    }
  },
  async prepare(record, request, options) {
    const { account, home } = record.local
    await mkdir(join(home, 'disk'), { recursive: true, mode: 0o700 })
    const withDisk = request.postgres?.diskBytes ? await makeDisk(record, request.postgres.diskBytes, options) : record
    if (account) for (const folder of [home, join(home, 'disk')]) await chown(folder, account.uid, account.gid)
    await initialise(withDisk, request.postgres?.maxConnections ?? 100, options)
    return withDisk
  },
  ports: (record) => [record.port],
  async launch(record) {
    return startDetached(record.id, {
      file: join(programs(record).binaries, 'postgres'),
      arguments: ['-D', dataDirectory(record)],
      environment: { ...environment, ...preloadEnvironment(record) },
      workingDirectory: record.local.home,
      account: record.local.account,
      log: join(record.directory, 'output.log'),
    })
  },
  // the eighth line of this file says if it serves clients; a killed server leaves the file behind
  ready: async (record) => (await accepts(loopback, record.port)) && (await lockFile(record))[7]?.trim() === 'ready',
  async askToEnd(record) {
    const pid = Number((await lockFile(record))[0])
    // fast shutdown: open connections are closed, nothing is lost
    if (pid > 0) signalProcess(pid, 'SIGINT')
  },
  dataDirectory,
  async tidy(record) {
    // a killed server leaves its small block of shared memory behind: the seventh line has its key and number
    const identifier = (await lockFile(record))[6]?.trim().split(/\s+/)[1]
    if (identifier) await tryProgram('ipcrm', ['-m', identifier])
  },
}

const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' }

async function initialise(
  record: LocalRecord,
  maxConnections: number,
  options: { signal?: AbortSignal },
): Promise<void> {
  const { account, home } = record.local
  const passwordFile = join(home, 'password')
  await writeFile(passwordFile, record.password, { mode: 0o600 })
  if (account) await chown(passwordFile, account.uid, account.gid)
  const args = [
    '-D',
    dataDirectory(record),
    '--waldir',
    join(home, 'wal'),
    '-U',
    record.user,
    `--pwfile=${passwordFile}`,
  ]
  try {
    const ran = await tryProgram(
      join(programs(record).binaries, 'initdb'),
      [...args, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'],
      {
        environment: { ...environment, ...markOf(record.id) },
        workingDirectory: home,
        account,
        signal: options.signal,
      },
    )
    if (!ran.ok) throw new AdminError('UNAVAILABLE', `PostgreSQL's initdb failed: ${ran.message}`)
  } finally {
    await rm(passwordFile, { force: true })
  }
  await appendFile(join(dataDirectory(record), 'postgresql.conf'), `${settings(record, maxConnections).join('\n')}\n`)
}

const settings = (record: LocalRecord, maxConnections: number): readonly string[] => [
  `listen_addresses = '${loopback}'`,
  `port = ${record.port}`,
  "unix_socket_directories = ''",
  `max_connections = ${maxConnections}`,
  // practice data: a crash of the machine may lose it, but a killed server must not, so commits are not delayed
  'fsync = off',
  'full_page_writes = off',
  // with a launch for each of the tests' databases, a hundred a minute
  'autovacuum_naptime = 10min',
  "timezone = 'UTC'",
  // in files of the data folder, so a killed server leaves nothing in other places
  'dynamic_shared_memory_type = mmap',
  'max_parallel_workers_per_gather = 0',
  // a checkpoint would have to write their state, and on a full disk that would stop the server
  'max_wal_senders = 0',
  'max_replication_slots = 0',
  ...(Number.parseInt(record.version, 10) >= 18 ? ['max_active_replication_origins = 0'] : []),
  'wal_level = minimal',
  'max_wal_size = 256MB',
]

function dataDirectory(record: LocalRecord): string {
  return join(record.local.home, 'disk', 'data')
}

async function lockFile(record: LocalRecord): Promise<readonly string[]> {
  try {
    return (await readFile(join(dataDirectory(record), 'postmaster.pid'), 'utf8')).split('\n')
  } catch {
    return [] // not running
  }
}

function programs(record: LocalRecord): ProgramsOf<'postgres'> {
  if (record.local.programs.kind !== 'postgres') throw new Error('not a record of PostgreSQL')
  return record.local.programs
}

/**
 * Returns the existing account to run PostgreSQL as if this process runs as root, since PostgreSQL refuses root; null:
 * run it as ourselves. Creates no account. Throws UNAVAILABLE if neither known account exists.
 */
export async function unprivilegedAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = accounts.find(([name]) => name === wanted) ?? []
    if (name && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new AdminError(
    'UNAVAILABLE',
    'PostgreSQL cannot run as root, and this machine has no account "postgres" or "nobody"',
    ['run this command as a user other than root'],
  )
}
