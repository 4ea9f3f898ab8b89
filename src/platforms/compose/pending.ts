import type { Container } from './containers.ts'
import type { Declared } from './project.ts'
import type { Engine } from './engine.ts'
import { jsonIn } from './engine.ts'

/** Lists the settings, and `image`, that differ between a container and its files. Only a new container gets them. */
export async function pendingSettings(engine: Engine, container: Container, declared: Declared): Promise<string[]> {
  const has = assignmentsIn(container.environment)
  const image = declared.image !== null && !isSameImage(declared.image, container.image) ? ['image'] : []
  const wanted = [...declared.environment].filter((entry): entry is [string, string] => entry[1] !== null)
  const changed = [...image, ...wanted.filter(([name, value]) => has.get(name) !== value).map(([name]) => name)]
  const extra = [...has.keys()].filter((name) => !declared.environment.has(name))
  if (extra.length === 0) return changed
  const ofImage = await imageEnvironment(engine, container.image)
  return [...changed, ...extra.filter((name) => ofImage !== null && !ofImage.has(name))]
}

/** True if two names mean the same image; Podman writes out what an image's name leaves out. */
export function isSameImage(one: string, other: string): boolean {
  const [first, second] = [one, other].map((image) => image.replace(/^(docker\.io\/(library\/)?|localhost\/)/, ''))
  return first === second
}

/** Returns the image's own settings; null if it cannot be inspected, for example because it was removed. */
async function imageEnvironment(engine: Engine, image: string): Promise<ReadonlyMap<string, string> | null> {
  const { stdout, exitCode } = await engine.ask(['image', 'inspect', image])
  if (exitCode !== 0) return null
  const [shown] = (jsonIn(stdout) ?? []) as { Config?: { Env?: string[] | null } }[]
  // every container has these from its network and its shell
  return new Map([
    ...assignmentsIn(shown?.Config?.Env ?? []),
    ['PATH', ''],
    ['HOSTNAME', ''],
    ['HOME', ''],
    ['TERM', ''],
    ['container', ''],
  ])
}

export function assignmentsIn(environment: readonly string[]): Map<string, string> {
  return new Map(environment.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
}
