import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { unlessAborted } from '../core/abort.ts'
import { lookUp } from './look-up.ts'

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
