import { readFile, readlink } from 'node:fs/promises'
import { identify, isAlive } from '../../adapters/process-identity.ts'

/**
 * How a process of this machine is called where others read it, as in the cluster's objects that it makes; null: it
 * cannot be told from others.
 */
export async function processName(pid = process.pid): Promise<string | null> {
  const [world, self] = await Promise.all([worldOfProcesses(), identify(pid)])
  return world !== null && self !== null ? `${world} ${self.pid} ${self.startTime}` : null
}

/** Whether that process lives; null: it was none of this machine since it was started, or that cannot be told. */
export async function livesHere(name: string | undefined): Promise<boolean | null> {
  const [world, pid, startTime] = name?.split(' ') ?? []
  if (pid === undefined || startTime === undefined || world !== (await worldOfProcesses())) return null
  return isAlive({ pid: Number(pid), startTime })
}

/**
 * Where the number of a process means one process alone: this boot of this machine, and its PID namespace. Null: not
 * known.
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
