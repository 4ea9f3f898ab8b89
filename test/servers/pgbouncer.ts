import { spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { unprivilegedAccount } from '../../src/lab/servers/local/postgres.ts'
import { accepts, freePort, loopback } from '../../src/lab/servers/local/ports.ts'
import { debianProgram } from '../support/debian-program.ts'
import type { FreshDatabase } from './database.ts'

export interface Pgbouncer {
  host: string
  port: number
  /** Returns the endpoint of the same database and user through pgbouncer */
  endpoint(of: DatabaseEndpoint): DatabaseEndpoint
  stop(): Promise<void>
}

/**
 * Starts a real pgbouncer in transaction mode before a database of the test run. Uses a program of this machine, else
 * Debian's package, fetched and unpacked without root. `users`: roles that may connect, by default the database's own.
 * `settings`: more lines of its configuration file.
 */
export async function pgbouncer(
  database: FreshDatabase,
  users: readonly DatabaseEndpoint[] = [database.endpoint],
  settings: readonly string[] = [],
): Promise<Pgbouncer> {
  const program = await debianProgram({
    name: 'pgbouncer',
    packageName: 'pgbouncer',
    path: 'usr/sbin/pgbouncer',
    megabytes: 20,
  })
  const account = await unprivilegedAccount()
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-pgbouncer-'))
  const port = await freePort()
  const server = database.endpoint.hosts[0]!
  const file = (name: string): string => join(folder, name)
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
  await writeFile(
    file('users'),
    users.map(({ user, password }) => `${quoted(user ?? '')} ${quoted(password?.reveal() ?? '')}\n`).join(''),
  )
  await writeFile(
    file('pgbouncer.ini'),
    [
      '[databases]',
      `${database.name} = host=${server.host} port=${server.port} dbname=${database.name}`,
      '[pgbouncer]',
      `listen_addr = ${loopback}`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = md5',
      `auth_file = ${file('users')}`,
      'pool_mode = transaction',
      'default_pool_size = 5',
      'ignore_startup_parameters = extra_float_digits',
      ...settings,
      '',
    ].join('\n'),
  )
  await chmod(folder, 0o755)
  if (account)
    for (const path of [folder, file('users'), file('pgbouncer.ini')]) await chown(path, account.uid, account.gid)
  const child = spawn(program, [file('pgbouncer.ini')], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const abandon = (): void => void child.kill('SIGKILL')
  process.once('exit', abandon)
  for (
    const end = Date.now() + 20_000;
    !(await accepts(loopback, port));
    await new Promise((resolve) => setTimeout(resolve, 20))
  ) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < end) continue
    abandon()
    throw new Error(`pgbouncer did not start: ${said}`)
  }
  return {
    host: loopback,
    port,
    endpoint: (of) => ({ ...of, hosts: [{ host: loopback, port }] }),
    async stop() {
      process.removeListener('exit', abandon)
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
