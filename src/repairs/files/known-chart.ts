import { AdminError } from '../../core/error.ts'
import { listed } from '../../core/format.ts'
import type { Risk, Step } from '../../core/plan.ts'
import { isObject } from '../../core/shape.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { ChartPlace, EditedValues, FilesSource, Rendered, ValueLook } from '../../core/sources.ts'
import { differing } from '../../core/values.ts'
import { chartKeys, valuesSigns } from '../../knowledge/chart.ts'
import { isBuildLabel } from '../../knowledge/builds.ts'
import { chooseFile } from './layout.ts'
import type { ValuesPlace } from './layout.ts'

/** A container as a chart renders it. */
interface RenderedContainer {
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
async function effectOf(
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

/** Values files of one chart. */
export interface ChartValues {
  files: readonly string[]
  place: ValuesPlace
}

/** Returns each file with the edits that these steps make to it. */
export function valuesWith({ files, place }: ChartValues, steps: readonly Step[]): EditedValues[] {
  return files.map((file) => ({
    file,
    below: place.all,
    edits: steps.flatMap(({ action }) => (action.kind === 'edit-values' && action.file === file ? action.edits : [])),
  }))
}

/**
 * Returns what the edits of these steps change in the rendered chart; null if they edit no file. Throws REFUSED if they
 * change nothing, because the chart does not read these keys; otherwise as `effectOf`.
 */
export async function effectOfSteps(
  files: FilesSource,
  chart: ChartPlace,
  values: ChartValues,
  steps: readonly Step[],
): Promise<Effect | null> {
  if (steps.length === 0) return null
  const effect = await effectOf(files, chart, valuesWith(values, []), valuesWith(values, steps))
  if (effect.images.length + effect.settings.length + effect.others.length > 0) return effect
  const keys = steps.flatMap(({ action }) =>
    action.kind === 'edit-values' ? action.edits.map(({ path }) => path.join('.')) : [],
  )
  throw new AdminError(
    'REFUSED',
    `chart ${chart.chart} does not read ${keys.join(', ')}: the edit would have no effect. Nothing was changed`,
    [
      '--chart CHART   # if the files belong to another chart',
      "--path KEY.PATH   # if the chart's values are under another key in the file",
    ],
  )
}

/** Returns the risk that the edit changes more than was requested; null if it does not. */
export function otherChanges(chart: ChartPlace, others: readonly string[]): Risk | null {
  if (others.length === 0) return null
  return {
    name: 'other-changes',
    message:
      `with this edit, the output of chart ${chart.chart} changes in more places than requested: ` + listed(others, 10),
    proof: ["in the chart's templates, find what else reads these values"],
  }
}

/**
 * Returns the risk that the chart does not read the keys to set, where no chart is named. `keys`: below the chart's own
 * values. A chart reads any key that one of its files has. `again`: the same command with more words. Null: something
 * shows that the chart reads them.
 */
export async function unknownChart(
  files: FilesSource,
  { files: values, place: { own } }: ChartValues,
  keys: readonly (readonly string[])[],
  again: (...more: string[]) => ShellCommand,
): Promise<Risk | null> {
  const isThere = async (key: readonly string[]): Promise<boolean> =>
    (
      await Promise.all(
        values.map(async (file) => (await files.look(file, [...own, ...key])).found === own.length + key.length),
      )
    ).includes(true)
  const missing: string[] = []
  for (const key of keys) if (!(await isThere(key))) missing.push(key.join('.'))
  if (missing.length === 0) return null
  for (const sign of valuesSigns) if (await isThere(sign)) return null
  for (const file of values) {
    const { text } = await files.look(file, [...own, ...chartKeys.version])
    if (text !== null && isBuildLabel(text)) return null
  }
  return {
    name: 'unknown-chart',
    message:
      `cannot tell whether the chart reads ${missing.join(' and ')}: ` +
      `${values.length === 1 ? `${values[0]!} does` : 'the files do'} not have ` +
      `${missing.length === 1 ? 'this key' : 'these keys'}`,
    proof: [again('--chart', 'CHART')],
  }
}

/** A key that holds another kind of value than the chart reads there. */
interface Unfit {
  key: string
  needs: 'a map' | 'a single value'
  file: string
  line: number | null
}

/** Returns the keys above the image's name and the settings that hold no map, so that the chart cannot read them. */
export async function unfitMaps(
  files: FilesSource,
  names: readonly string[],
  { own, all }: ValuesPlace,
): Promise<Unfit[]> {
  const settings = [...own, ...chartKeys.openSettings]
  const asked = [
    // a chart below another one may have no values, and a manifest may hold them as text
    ...(own.length > 0 && all.length === 0 ? [{ path: own, mayBeEmpty: true }] : []),
    { path: [...own, ...chartKeys.imageName].slice(0, -1), mayBeEmpty: false },
    // Helm takes an empty value for the chart's own map; then the chart looks for a key in nothing, and fails
    { path: settings.slice(0, -1), mayBeEmpty: false },
    // over which it only goes
    { path: settings, mayBeEmpty: true },
  ]
  const unfit: Unfit[] = []
  for (const { path, mayBeEmpty } of asked) {
    const last = await lastAt(files, names, path)
    if (last === null || last.look.isOpen || (mayBeEmpty && last.look.kind === 'empty')) continue
    unfit.push({ key: path.join('.'), needs: 'a map', file: last.file, line: last.look.line })
  }
  return unfit
}

/**
 * Returns what Helm has at a path after all files, looked at one key deeper; null: nothing. A later map replaces what
 * is none, and the other way round.
 */
async function lastAt(
  files: FilesSource,
  names: readonly string[],
  path: readonly string[],
): Promise<{ file: string; look: ValueLook } | null> {
  let last: { file: string; look: ValueLook } | null = null
  for (const file of names) {
    const look = await files.look(file, [...path, ''])
    if (look.found >= path.length) last = { file, look }
    else if (look.found > 0 && !look.isOpen) last = null
  }
  return last
}

/** Returns that a path holds a map or a list, in the file that decides; null if not. `orEmpty`: or is empty. */
export async function unfitSingle(
  files: FilesSource,
  names: readonly string[],
  path: readonly string[],
  { orEmpty = false } = {},
): Promise<Unfit | null> {
  const { file, look } = await chooseFile(files, names, path)
  if (look.found < path.length || look.kind === 'single' || (look.kind === 'empty' && !orEmpty)) return null
  return { key: path.join('.'), needs: 'a single value', file, line: look.line }
}
