import { readFile, readlink } from 'node:fs/promises'
import { identify, isAlive } from '../../adapters/process-identity.ts'

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
