import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError, codeOf } from '../../../core/error.ts'
import type { Account } from '../types.ts'
import { command } from '../../../core/shell-command.ts'

const marker = 'TESTOPS_ADMIN_SERVER'

/** What a process of the server `id`, or of the service in the folder `id`, has in its environment. */
export const markOf = (id: string): Readonly<Record<string, string>> => ({ [marker]: id })

export interface Command {
  file: string
  arguments: readonly string[]
  environment: Readonly<Record<string, string>>
  workingDirectory: string
  account: Account | null
  /** takes what it prints */
  log: string
}

/** A process that outlives us. `exit` says how it ended, as long as it has not: null. */
export interface Detached {
  pid: number
  exit(): string | null
}

/** Starts a program in a session of its own, marked as belonging to the server `id`. */
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
    child.once('exit', (code, signal) => (ended = signal ? `was ended by ${signal}` : `ended with exit code ${code}`))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) =>
        reject(new AdminError('UNAVAILABLE', `Cannot start ${command.file}: ${error.message}`, [], { cause: error })),
      )
    })
    child.unref()
    return { pid: child.pid ?? 0, exit: () => ended }
  } finally {
    await log.close()
  }
}

/**
 * Processes of the server `id` that are alive now, found by the mark in their environment, so that a process which got
 * a recycled number is never among them. PostgreSQL and Redis overwrite theirs: they are known by their name and by
 * `dataDirectory`, which they work in. Processes that only wait to be reaped do not count.
 */
export function processesOf(id: string, dataDirectory: string | null): readonly number[] {
  const mark = `${marker}=${id}`
  // a process knows the folder that it works in by its real name
  const folder = dataDirectory !== null && existsSync(dataDirectory) ? realpathSync(dataDirectory) : dataDirectory
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        if (readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) return true
        return folder !== null && readlinkSync(`/proc/${pid}/cwd`) === folder && isServer(pid)
      } catch {
        return false // ended meanwhile, or another user's
      }
    })
}

/** A person may look around in the folder with a shell. */
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

/** Waits until `find` finds no process any more; false where the time runs out before. */
export async function waitUntilGone(find: () => readonly number[], timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (find().length > 0) {
    if (Date.now() > deadline) return false
    await sleep(50)
  }
  return true
}

/** Kills until nothing is left: a process may have had a child in between. */
export async function killAll(find: () => readonly number[]): Promise<void> {
  const deadline = Date.now() + 15_000
  for (let pids = find(); pids.length > 0; pids = find()) {
    if (Date.now() > deadline)
      throw new AdminError('FAILED', `Processes ${pids.join(', ')} do not end`, [command`kill -9 ${pids.map(String)}`])
    for (const pid of pids) signalProcess(pid, 'SIGKILL')
    await sleep(30)
  }
}
