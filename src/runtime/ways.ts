import type { HostPort, Opened, Reach, Way } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import type { Platform } from '../platforms/index.ts'
import type { Suggestion } from '../core/shell-command.ts'

interface Ways {
  reach: Reach
  /** What opening something gives; an error of it names first how an operator opens the ways that it took. */
  told: <T>(opening: (reach: Reach) => Promise<T>) => Promise<T>
  /** never throws */
  close: () => Promise<void>
}

/** The ways to the addresses of a deployment, each opened once; one that cannot be is tried again when it is asked for again. */
export function waysThrough(platform: Pick<Platform, 'reach' | 'isBeyond'>): Ways {
  const open = new Map<string, Promise<Opened<Way> | null>>()
  const reach: Reach = async ({ host, port }) => {
    const key = JSON.stringify([host, port])
    const held = open.get(key)
    if (held) return (await held)?.source ?? null
    const opening = platform.reach({ host, port })
    open.set(key, opening)
    opening.catch(() => open.delete(key))
    return (await opening)?.source ?? null
  }
  return {
    reach,
    async told(opening) {
      const commands = new Set<Suggestion>()
      const direct: HostPort[] = []
      try {
        return await opening(async (address) => {
          const way = await reach(address)
          if (way?.command) commands.add(way.command)
          if (way === null) direct.push(address)
          return way
        })
      } catch (error) {
        if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
        const { code, message, suggestions, cause, obstacle } = error
        if (await isBeyond(platform, error, direct)) {
          const what = `${message}; from this machine, that is: whether the service reaches it is not known`
          throw new AdminError(code, what, ['testops-admin doctor -d {deployment} --relay   # looks through the cluster; a repair, resume and undo take --relay, too', ...suggestions], { cause, obstacle: { kind: 'beyond' } })
        }
        if (commands.size === 0) throw error
        throw new AdminError(code, message, [...commands, ...suggestions], { cause, obstacle })
      }
    },
    async close() {
      const all = await Promise.allSettled(open.values())
      open.clear()
      await Promise.allSettled(all.map(async (it) => (it.status === 'fulfilled' ? it.value?.close() : undefined)))
    },
  }
}

async function isBeyond(platform: Pick<Platform, 'isBeyond'>, { code }: AdminError, direct: readonly HostPort[]): Promise<boolean> {
  if (!platform.isBeyond || (code !== 'UNREACHABLE' && code !== 'TIMED_OUT')) return false
  for (const address of direct) if (await platform.isBeyond(address)) return true
  return false
}
