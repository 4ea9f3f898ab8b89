import { createHash } from 'node:crypto'
import { readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { identify } from './process-identity.ts'

/** Returns a process's mark for file names: machine, number, start. Throws if there is no such process. */
export async function markOf(pid: number): Promise<string> {
  const identity = await identify(pid)
  if (identity === null) throw new Error(`no process ${pid}`)
  return `${await machine()}-${pid}-${short(identity.startTime)}`
}

/**
 * Returns true if the process of a mark has ended. Null if `mark` is invalid, or from another machine or container,
 * whose processes are not visible here.
 */
export async function hasEnded(mark: string): Promise<boolean | null> {
  const [, where, pid, began] = /^([\da-f]{8})-(\d+)-([\da-f]{8})$/.exec(mark) ?? []
  if (where === undefined || where !== (await machine())) return null
  const now = await identify(Number(pid))
  return now === null || short(now.startTime) !== began
}

/** Identifies this machine or container: containers with the same host name number their processes separately. */
async function machine(): Promise<string> {
  return short(`${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => '')}`)
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
