import { differing } from '../../core/differing.ts'
import { isObject } from '../../core/shape.ts'
import type { ChartPlace, EditedValues, FilesSource, Rendered } from '../../core/sources.ts'

/** A container as a chart renders it. */
export interface RenderedContainer {
  /** `Deployment/testops-testops, container testops-testops` */
  at: string
  image: string | null
  /** by name, each time that it is set; null: from elsewhere, as a Secret */
  environment: ReadonlyMap<string, readonly (string | null)[]>
}

/** What edits of values change in what a chart renders. */
export interface Effect {
  images: readonly { at: string; was: string; is: string }[]
  /** null: not set; `times`: how often it is set afterwards */
  settings: readonly { at: string; name: string; is: string | null; times: number }[]
  /** all else, for people: `Deployment/testops-testops .metadata.labels.version` */
  others: readonly string[]
}

/**
 * Renders the chart as the files are and as they would be. What differs from one rendering of the same files to the
 * next is no effect. Throws as `FilesSource.rendered`.
 */
export async function effectOf(
  files: FilesSource,
  chart: ChartPlace,
  now: readonly EditedValues[],
  then: readonly EditedValues[],
): Promise<Effect> {
  const [before, again, after] = [
    await files.rendered(chart, now),
    await files.rendered(chart, now),
    await files.rendered(chart, then),
  ]
  const random = new Set(differing(before, again).map((path) => JSON.stringify(path)))
  const paths = differing(before, after).filter((path) => !random.has(JSON.stringify(path)))
  const [former, next] = [containersOf(before), containersOf(after)].map((all) => new Map(all.map((it) => [it.at, it])))
  const images = [...next!.values()].flatMap(({ at, image }) => {
    const was = former!.get(at)?.image
    return was != null && image !== null && was !== image ? [{ at, was, is: image }] : []
  })
  const settings = [...next!.values()].flatMap(({ at, environment }) => {
    const was = former!.get(at)?.environment ?? new Map<string, readonly (string | null)[]>()
    const names = [...new Set([...was.keys(), ...environment.keys()])].filter(
      (name) => JSON.stringify(was.get(name)) !== JSON.stringify(environment.get(name)),
    )
    return names.map((name) => ({
      at,
      name,
      is: environment.get(name)?.at(-1) ?? null,
      times: environment.get(name)?.length ?? 0,
    }))
  })
  return {
    images,
    settings,
    others: paths
      .filter((path) => !isOfContainer(path))
      .map(([object = '', ...rest]) => `${object} .${rest.join('.')}`),
  }
}

/** All containers of what was rendered, of Jobs and init containers too. */
export function containersOf(rendered: Rendered): RenderedContainer[] {
  const within = (value: unknown, object: string): RenderedContainer[] =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, it]) =>
          lists.includes(key) && isObject(it)
            ? Object.entries(it).map(([name, container]) => containerIn(container, `${object}, container ${name}`))
            : within(it, object),
        )
      : []
  return Object.entries(rendered).flatMap(([object, value]) => within(value, object))
}

const lists: readonly string[] = ['containers', 'initContainers']

function containerIn(value: unknown, at: string): RenderedContainer {
  const { image, env } = isObject(value) ? value : {}
  const environment = new Map<string, (string | null)[]>()
  for (const it of isObject(env) ? Object.values(env) : []) {
    if (!isObject(it) || typeof it['name'] !== 'string') continue
    environment.set(it['name'], [
      ...(environment.get(it['name']) ?? []),
      typeof it['value'] === 'string' ? it['value'] : null,
    ])
  }
  return { at, image: typeof image === 'string' ? image : null, environment }
}

/** Whether a path leads to the image, or to a variable, of a container. */
function isOfContainer(path: readonly string[]): boolean {
  const list = path.findIndex((key) => lists.includes(key))
  return list >= 0 && (path[list + 2] === 'env' || (path[list + 2] === 'image' && path.length === list + 3))
}
