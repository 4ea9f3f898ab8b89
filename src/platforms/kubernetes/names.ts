import { isHostName } from '../../core/host.ts'
import type { KubernetesClient } from './client.ts'
import { execIn, MissingProgram } from './exec.ts'
import type { ExecPlace, Execution } from './exec.ts'

/**
 * Whether a name resolves in a running container, asked of its own resolver; null where that cannot be told. Throws as
 * `execIn` where nothing can be run there.
 */
export async function resolvesIn(client: KubernetesClient, place: ExecPlace, host: string): Promise<boolean | null> {
  if (!isHostName(host)) return null
  const ask = async (...command: string[]): Promise<Execution | null> =>
    execIn(client, place, command, { timeoutMs: client.timeoutMs }).catch((error: unknown) => {
      if (error instanceof MissingProgram) return null
      throw error
    })
  const asked = await ask('getent', 'hosts', host)
  // getent(1): 2 where there is no such name
  if (asked) return asked.exitCode === 0 ? true : asked.exitCode === 2 ? false : null
  // BusyBox's does not look into /etc/hosts, so that its no is none
  return (await ask('nslookup', host))?.exitCode === 0 ? true : null
}
