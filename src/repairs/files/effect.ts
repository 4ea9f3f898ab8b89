import { differing } from '../../core/differing.ts'
import { isObject } from '../../core/shape.ts'
import type { ChartPlace, EditedValues, FilesSource, Rendered } from '../../core/sources.ts'

/** A container as a chart renders it. */
export interface RenderedContainer {
  /** `Deployment/testops-testops, container testops-testops` */
  at: string
  image: string | null
  /** Every value of each variable, by name; null: from elsewhere, such as a Secret */
  environment: ReadonlyMap<string, readonly (string | null)[]>
}

/** What edits of values change in a chart's rendered output. */
export interface Effect {
  images: readonly { at: string; was: string; is: string }[]
  /** `is`: null if not set afterwards; `times`: how often it is set afterwards */
  settings: readonly { at: string; name: string; is: string | null; times: number }[]
  /** All other changes, for people: `Deployment/testops-testops .metadata.labels.version` */
  others: readonly string[]
}

/**
 * Renders the chart with the files as they are and as they would be. Ignores whatever differs between two renderings of
 * the same files. Throws as `FilesSource.rendered`.
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

/** Returns all rendered containers, including those of Jobs and init containers. */
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

/** True if a path leads to the image or to a variable of a container. */
function isOfContainer(path: readonly string[]): boolean {
  const list = path.findIndex((key) => lists.includes(key))
  return list >= 0 && (path[list + 2] === 'env' || (path[list + 2] === 'image' && path.length === list + 3))
}
