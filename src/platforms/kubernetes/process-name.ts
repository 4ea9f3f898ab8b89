import { readFile, readlink } from 'node:fs/promises'
import { identify, isAlive } from '../../adapters/process-identity.ts'

/** How this process is called in the cluster's objects that it makes; null: it cannot be told from others. */
export async function processName(): Promise<string | null> {
  const [world, self] = await Promise.all([worldOfProcesses(), identify(process.pid)])
  return world !== null && self !== null ? `${world} ${self.pid} ${self.startTime}` : null
}

/** Whether that was a process of this machine, and is gone. */
export async function isOfTheDead(name: string | undefined): Promise<boolean> {
  const [world, pid, startTime] = name?.split(' ') ?? []
  if (pid === undefined || startTime === undefined || world !== (await worldOfProcesses())) return false
  return !(await isAlive({ pid: Number(pid), startTime }))
}

/** Where the number of a process means one process alone: this boot of this machine, and its PID namespace. Null: not known. */
async function worldOfProcesses(): Promise<string | null> {
  try {
    const [boot, namespace] = await Promise.all([readFile('/proc/sys/kernel/random/boot_id', 'utf8'), readlink('/proc/self/ns/pid')])
    return `${boot.trim()}/${namespace}`
  } catch {
    return null
  }
}
