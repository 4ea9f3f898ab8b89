import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { Engine } from './engine.ts'
import { jsonIn } from './engine.ts'
import { engineFailure } from './failure.ts'

/** A running container, of any project or none. */
export interface RunningContainer {
  id: string
  hostname: string
  networkMode: string
  /** True if somebody runs a program in it beside its own */
  runsPrograms: boolean
}

interface Shown {
  Id?: string
  ExecIDs?: string[] | null
  Config?: { Hostname?: string }
  HostConfig?: { NetworkMode?: string }
}

/** Lists all containers that run on the engine. Throws UNAVAILABLE, FORBIDDEN, TIMED_OUT, UNEXPECTED_ANSWER. */
export async function runningContainers(engine: Engine): Promise<RunningContainer[]> {
  const ids = (await engine.run(['ps', '--quiet', '--no-trunc'])).split('\n').filter(Boolean)
  if (ids.length === 0) return []
  const words = ['inspect', '--type', 'container', ...ids] as const
  const result = await engine.ask(words, { maxBytes: 50_000_000 })
  // a container that ended since the listing is left out
  if (result.exitCode !== 0 && !/no such (?:object|container)/i.test(result.stderr))
    throw engineFailure([engine.program, ...words], result)
  const shown = jsonIn(result.stdout)
  if (!Array.isArray(shown))
    throw new AdminError('UNEXPECTED_ANSWER', `\`${engine.program} inspect\` gave no JSON`, [
      typed([engine.program, ...words.slice(0, 4)]),
    ])
  return (shown as readonly (Shown | null)[]).flatMap((it) => {
    if (!it?.Id) return []
    return [
      {
        id: it.Id,
        hostname: it.Config?.Hostname || it.Id.slice(0, 12),
        networkMode: it.HostConfig?.NetworkMode ?? '',
        runsPrograms: (it.ExecIDs ?? []).length > 0,
      },
    ]
  })
}
