import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { AdminError } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import type { NetworkSource } from '../core/sources.ts'
import { unlessAborted } from '../core/work.ts'
import { seconds, systemCode } from './failure.ts'
import { lookUp } from './look-up.ts'

/** Looks names up as every program on this machine does, hosts file included. Throws TIMED_OUT, UNAVAILABLE. */
export function networkSource({ timeoutMs }: { timeoutMs: number } = { timeoutMs: 10_000 }): NetworkSource {
  return { resolve: async (host) => (await addressesOf(host, timeoutMs)).length > 0 }
}

/**
 * Returns the addresses of a name, as every program on this machine sees them; empty if it has none. Throws TIMED_OUT,
 * UNAVAILABLE.
 */
export async function addressesOf(host: string, timeoutMs: number): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new AdminError('TIMED_OUT', `looking up ${host} timed out after ${seconds(timeoutMs)}`, [
            command`getent hosts ${host}`,
          ]),
        ),
      timeoutMs,
    )
  })
  try {
    const found = await Promise.race([lookUp(host), late])
    return [...new Set(found.map(({ address }) => address))]
  } catch (error) {
    if (error instanceof AdminError) throw error
    // Java reports an unreachable name server as an unknown host too
    if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME', 'EAI_FAIL'].includes(systemCode(error) ?? '')) return []
    throw new AdminError('UNAVAILABLE', `the name ${host} cannot be looked up`, [command`getent hosts ${host}`], {
      cause: error,
    })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * True if a host is this machine: its name resolves to addresses of this machine only. False if no name server says so
 * within `timeoutMs`. Never throws.
 */
export async function isThisMachine(host: string, { timeoutMs }: { timeoutMs: number }): Promise<boolean> {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
  const late = AbortSignal.timeout(timeoutMs)
  const addresses = await unlessAborted(lookUp(host), late, () => new Error(`no answer about ${host} in time`)).catch(
    () => [],
  )
  return (
    addresses.length > 0 &&
    addresses.every(({ address }) => /^127\./.test(address) || address === '::1' || own.includes(address))
  )
}

/** True if a program of that name can be run from these folders; by default from those of this process. */
export async function isOnPath(name: string, path: string = env['PATH'] ?? ''): Promise<boolean> {
  const found = await Promise.all(
    path.split(delimiter).map(async (folder) =>
      access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
