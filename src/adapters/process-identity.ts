import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

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

export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await identify(pid))?.startTime === startTime
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
