import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError, codeOf } from '../../../core/error.ts'
import { command } from '../../../core/shell-command.ts'
import type { Account, LocalServer, ServerRecord, ServerRequest, StartOptions } from '../types.ts'

const marker = 'TESTOPS_ADMIN_SERVER'

/** The environment variable that marks a process of the server `id`, or of the service in the folder `id`. */
export const markOf = (id: string): Readonly<Record<string, string>> => ({ [marker]: id })

interface Command {
  file: string
  arguments: readonly string[]
  environment: Readonly<Record<string, string>>
  workingDirectory: string
  account: Account | null
  /** receives its output */
  log: string
}

/** A process that outlives us. `exit` says how it exited; null while it is running. */
export interface Detached {
  pid: number
  exit(): string | null
}

/** Starts a program in its own session, marked as a process of the server `id`. */
export async function startDetached(id: string, command: Command): Promise<Detached> {
  const log = await open(command.log, 'a', 0o600)
  try {
    const child = spawn(command.file, command.arguments, {
      cwd: command.workingDirectory,
      env: { ...command.environment, ...markOf(id) },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...(command.account ? { uid: command.account.uid, gid: command.account.gid } : {}),
    })
    let ended: string | null = null
    child.once('exit', (code, signal) => (ended = signal ? `was killed by ${signal}` : `exited with ${code}`))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) =>
        reject(
          new AdminError('UNAVAILABLE', `could not start ${command.file}: ${error.message}`, [], { cause: error }),
        ),
      )
    })
    child.unref()
    return { pid: child.pid ?? 0, exit: () => ended }
  } finally {
    await log.close()
  }
}

/**
 * Finds the live processes of the server `id` by the mark in their environment, so a reused process id is never
 * mistaken for one. PostgreSQL and Redis overwrite their environment: they are found by name and by their working
 * folder, `dataDirectory`. Zombies do not count.
 */
export function processesOf(id: string, dataDirectory: string | null): readonly number[] {
  const mark = `${marker}=${id}`
  // a process's working folder is listed by its real path
  const folder = dataDirectory !== null && existsSync(dataDirectory) ? realpathSync(dataDirectory) : dataDirectory
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        if (readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) return true
        return folder !== null && readlinkSync(`/proc/${pid}/cwd`) === folder && isServer(pid)
      } catch {
        return false // it has exited, or belongs to another user
      }
    })
}

/** True for a server's own program: a person's shell may also work in the folder. */
function isServer(pid: number): boolean {
  return /^(postgres|redis-server|ld-linux|ld\.so)/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** Waits until `find` finds no more processes. Returns false on timeout. */
export async function waitUntilGone(find: () => readonly number[], timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (find().length > 0) {
    if (Date.now() > deadline) return false
    await sleep(50)
  }
  return true
}

/** Kills what `find` finds until nothing is left, since a process may start a child first. Throws FAILED after 15 s. */
export async function killAll(find: () => readonly number[]): Promise<void> {
  const deadline = Date.now() + 15_000
  for (let pids = find(); pids.length > 0; pids = find()) {
    if (Date.now() > deadline)
      throw new AdminError('FAILED', `processes ${pids.join(', ')} do not exit`, [command`kill -9 ${pids.map(String)}`])
    for (const pid of pids) signalProcess(pid, 'SIGKILL')
    await sleep(30)
  }
}

export type LocalRecord = ServerRecord & { local: LocalServer }

/** How each of the three servers runs as processes on this machine. */
export interface LocalKind {
  /** plans ports, account and folders, which must be recorded before anything is made */
  plan(record: LocalRecord, request: ServerRequest): Promise<LocalRecord>
  /** makes data and configuration; may complete the record, which is then rewritten before the start */
  prepare(record: LocalRecord, request: ServerRequest, options: StartOptions): Promise<LocalRecord>
  /** ports that must be free before a start */
  ports(record: LocalRecord): readonly number[]
  launch(record: LocalRecord): Promise<Detached>
  /** true if it serves clients */
  ready(record: LocalRecord): Promise<boolean>
  /** asks it to stop; `pids` are all processes of the server */
  askToEnd(record: LocalRecord, pids: readonly number[]): Promise<void>
  /** the working folder of its processes, if that identifies them */
  dataDirectory(record: LocalRecord): string | null
  /** releases what a killed server leaves outside its folders */
  tidy(record: LocalRecord): Promise<void>
}
