import { createHash } from 'node:crypto'
import { readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { identify } from './process-identity.ts'

/** Identifies a process in a file name: its machine, its number, its start. Throws if there is no such process. */
export async function markOf(pid: number): Promise<string> {
  const identity = await identify(pid)
  if (identity === null) throw new Error(`no process ${pid}`)
  return `${await machine()}-${pid}-${short(identity.startTime)}`
}

/**
 * Whether the process that a mark is of has ended; null: it is no mark, or that of another machine or container, where
 * nobody can tell from here.
 */
export async function hasEnded(mark: string): Promise<boolean | null> {
  const [, where, pid, began] = /^([\da-f]{8})-(\d+)-([\da-f]{8})$/.exec(mark) ?? []
  if (where === undefined || where !== (await machine())) return null
  const now = await identify(Number(pid))
  return now === null || short(now.startTime) !== began
}

/** Containers with the same host name number their processes separately. */
async function machine(): Promise<string> {
  return short(`${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => '')}`)
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
