import { AdminError } from '../core/error.ts'
import type { NetworkSource } from '../core/sources.ts'
import { seconds, systemCode } from './failure.ts'
import { lookUp } from './look-up.ts'
import { command } from '../core/shell-command.ts'

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
