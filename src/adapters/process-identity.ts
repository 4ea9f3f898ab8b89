import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import { codeOf } from '../core/error.ts'

/** Identifies a process, even after another one gets its number. */
export interface ProcessIdentity {
  pid: number
  /** Start time as the system writes it: clock ticks since boot, or a date */
  startTime: string
}

/** Identifies a running process; null if it is gone. One that has ended but was not reaped counts as gone. */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  const startTime = process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid)
  return startTime === null ? null : { pid, startTime }
}

/** True also for a process that the system hides from this user: it may be the one. */
export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  const found = await identify(pid)
  return found ? found.startTime === startTime : isHidden(pid)
}

/** True if the process is another user's and /proc does not show it, as with the mount option `hidepid`. */
function isHidden(pid: number): boolean {
  if (process.platform !== 'linux' || existsSync(`/proc/${pid}`)) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

async function fromProc(pid: number): Promise<string | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // the name in brackets may itself contain blanks and brackets
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

async function fromPs(pid: number): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)])
    const [, state, started] = /^(\S+)\s+(\S.*)/.exec(stdout.trim()) ?? []
    return !state || state.startsWith('Z') ? null : started!
  } catch {
    return null
  }
}

/** Returns a process's mark for file names: machine, number, start. Throws if there is no such process. */
export async function markOf(pid: number): Promise<string> {
  const identity = await identify(pid)
  if (identity === null) throw new Error(`no process ${pid}`)
  return `${await machine()}-${pid}-${short(identity.startTime)}`
}

/**
 * Returns true if the process of a mark has ended. Null if `mark` is invalid, or if the process would not be visible
 * here: on another machine, in another container, or hidden from this user.
 */
export async function hasEnded(mark: string): Promise<boolean | null> {
  const [, where, pid, began] = /^([\da-f]{8})-(\d+)-([\da-f]{8})$/.exec(mark) ?? []
  if (where === undefined || where !== (await machine())) return null
  const now = await identify(Number(pid))
  if (now === null && isHidden(Number(pid))) return null
  return now === null || short(now.startTime) !== began
}

/** Identifies this machine or container: containers with the same host name number their processes separately. */
async function machine(): Promise<string> {
  return short(`${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => '')}`)
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/**
 * Names a process of this machine for others that read it, as in the cluster's objects that it makes. Null if it cannot
 * be told from others.
 */
export async function processName(pid = process.pid): Promise<string | null> {
  const [world, self] = await Promise.all([worldOfProcesses(), identify(pid)])
  return world !== null && self !== null ? `${world} ${self.pid} ${self.startTime}` : null
}

/** True if that process lives; null if it is not of this boot of this machine, or if that cannot be told. */
export async function livesHere(name: string | undefined): Promise<boolean | null> {
  const [world, pid, startTime] = name?.split(' ') ?? []
  if (pid === undefined || startTime === undefined || world !== (await worldOfProcesses())) return null
  return isAlive({ pid: Number(pid), startTime })
}

/**
 * Identifies where a process number means one process alone: this boot of this machine, and its PID namespace. Null if
 * unknown.
 */
async function worldOfProcesses(): Promise<string | null> {
  try {
    const [boot, namespace] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readlink('/proc/self/ns/pid'),
    ])
    return `${boot.trim()}/${namespace}`
  } catch {
    return null
  }
}

/**
 * Takes a lock among the processes of this account on this machine; `close` gives it back. Null: another process has
 * it. The lock is a socket without a file, so the system frees it however its holder ends. Only Linux has such sockets.
 * Throws system errors.
 */
export function socketLock(key: string): Promise<Server | null> {
  const mark = createHash('sha256').update(key).digest('hex').slice(0, 32)
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(null) : reject(error)))
    server.listen(`\0testops-admin-${process.getuid?.() ?? 0}-${mark}`, () => resolve(server))
    server.unref()
  })
}
