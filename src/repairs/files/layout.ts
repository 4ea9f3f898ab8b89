import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { Step } from '../../core/plan.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { FilesSource, ValueLook } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { chartKeys, manifestOf, valuesAt, valuesSigns } from '../../knowledge/chart.ts'

/** The file that decides a key's value, and what it has there. */
export interface Chosen {
  file: string
  look: ValueLook
}

/**
 * Chooses among values files in Helm's order, where a later file wins. Takes the last file that has the key, or that
 * sets a non-map above it. Otherwise takes the file with most of the path, the later one of equals.
 */
export async function chooseFile(
  files: FilesSource,
  values: readonly string[],
  path: readonly string[],
): Promise<Chosen> {
  const all: Chosen[] = []
  for (const file of values) all.push({ file, look: await files.look(file, path) })
  const deciding = all.findLast(({ look }) => look.found === path.length || (look.found > 0 && !look.isOpen))
  const most = Math.max(...all.map(({ look }) => look.found))
  return deciding ?? all.findLast(({ look }) => look.found === most)!
}

/** Throws USAGE if no file has the map that `--path` names: a value written elsewhere has no effect. */
async function assertPath(
  files: FilesSource,
  values: readonly string[],
  prefix: readonly string[],
  again: (path: string) => ShellCommand,
): Promise<void> {
  if (prefix.length === 0) return
  const { look } = await chooseFile(files, values, prefix)
  if (look.found === prefix.length) return
  const known = (await Promise.all(values.map(async (file) => files.keys(file, prefix.slice(0, look.found))))).flat()
  const near = nearestNames(prefix[look.found]!, known).map((key) =>
    again([...prefix.slice(0, look.found), key].join('.')),
  )
  const hint = known.length === 0 ? '' : `; ${closestTo(prefix[look.found]!, known)}`
  throw new AdminError('USAGE', `no key ${prefix.join('.')} in ${values.join(', ')}${hint}`, near)
}

/**
 * Throws REFUSED if the chart's values seem to lie deeper than `below`, as in an umbrella chart: values written at
 * `below` would have no effect. `keys`: the keys to change.
 */
async function refuseUmbrella(
  files: FilesSource,
  values: readonly string[],
  below: readonly string[],
  keys: readonly (readonly string[])[],
  again: (path: string) => ShellCommand,
): Promise<void> {
  const found = async (signs: readonly (readonly string[])[]): Promise<(readonly string[])[]> =>
    (await Promise.all(values.map(async (file) => files.places(file, below, signs)))).flat()
  const isHere = (path: readonly string[]): boolean => path.length === below.length
  const places = await found(keys)
  if (places.some(isHere)) return
  // without these keys, some of the chart's keys at the top show that the values are the chart's
  const weak = places.length > 0 ? [] : await found([chartKeys.version])
  const isPart = async (file: string): Promise<boolean> =>
    (
      await Promise.all(
        [...keys, chartKeys.version].map(
          async (key) => (await files.look(file, [...below, ...key])).found > below.length,
        ),
      )
    ).includes(true)
  if (places.length === 0 && (await Promise.all(values.map(isPart))).includes(true)) return
  const deeper = [...new Set([...places, ...weak].map((path) => path.join('.')))]
  if (deeper.length === 0) return
  throw new AdminError(
    'REFUSED',
    `the values of the service's chart seem to be under ${deeper.join(', ')}, as in an umbrella chart. Values ` +
      `${below.length === 0 ? 'at the top of the file' : `directly under ${below.join('.')}`} would have no ` +
      'effect',
    deeper.map(again),
  )
}

/** What to edit, and how to repeat the command. */
interface ValuesWish {
  files: readonly string[]
  /** The keys of --path */
  path: readonly string[]
  /** Keys of the chart, one of which changes, below its own values: an existing one shows where these lie */
  keys: readonly (readonly string[])[]
  /** True if helm upgrades a release with the files */
  applies: boolean
  /** Returns the same command with that path */
  again: (path: string) => ShellCommand
}

/** Where values lie in files, as paths of keys. */
export interface ValuesPlace {
  /** Path to the chart's own values */
  own: readonly string[]
  /** Path to all values that Helm receives: inside a manifest that holds values */
  all: readonly string[]
}

/**
 * Finds where the chart's values lie, by `--path` or by the contents of the files. Throws REFUSED for files that hold
 * no values or hold them elsewhere, USAGE for a path that leads nowhere.
 */
export async function placeOfValues(files: FilesSource, wish: ValuesWish): Promise<ValuesPlace> {
  for (const file of wish.files) await refuseOtherFile(files, file)
  const manifests: string[] = []
  for (const file of wish.files) if ((await manifestIn(files, file)) !== null) manifests.push(file)
  const [manifest] = manifests
  if (manifest === undefined) {
    await assertPath(files, wish.files, wish.path, wish.again)
    if (wish.path.length === 0) await refuseUmbrella(files, wish.files, [], wish.keys, wish.again)
    return { own: wish.path, all: [] }
  }
  return placeInManifest(files, manifest, wish)
}

async function manifestIn(files: FilesSource, file: string): Promise<{ apiVersion: string; kind: string } | null> {
  const [apiVersion, kind] = [(await files.look(file, ['apiVersion'])).text, (await files.look(file, ['kind'])).text]
  return apiVersion === null || kind === null ? null : { apiVersion, kind }
}

async function placeInManifest(files: FilesSource, file: string, wish: ValuesWish): Promise<ValuesPlace> {
  const { apiVersion, kind } = (await manifestIn(files, file))!
  const what = manifestOf(apiVersion, kind)
  if (wish.files.length > 1)
    throw new AdminError(
      'REFUSED',
      `${file} is a manifest (${kind}) and cannot be combined with values files. Nothing was changed`,
      [typed(['--values', file])],
    )
  if (wish.applies)
    throw new AdminError(
      'REFUSED',
      `--apply runs helm, but ${file} is a manifest (${kind}) that ${what?.keeper ?? 'the cluster'} applies. Nothing ` +
        'was changed',
      ['the same command without --apply   # only edits the file'],
    )
  const inside = what === null ? [] : await insideOf(files, file, kind, what)
  const isThere = async (path: readonly string[]): Promise<boolean> =>
    (await files.look(file, path)).found === path.length
  if (wish.path.length > 0) {
    const within = [...inside, ...wish.path]
    if (inside.length > 0 && (await isThere(within))) return { own: within, all: inside }
    await assertPath(files, wish.files, wish.path, wish.again)
    const isInside = inside.length > 0 && inside.every((key, index) => wish.path[index] === key)
    return { own: wish.path, all: isInside ? inside : wish.path }
  }
  if (what !== null) {
    await refuseUmbrella(files, wish.files, inside, wish.keys, wish.again)
    return { own: inside, all: inside }
  }
  const places = await files.places(file, [], [...wish.keys, ...valuesSigns])
  throw new AdminError('REFUSED', `${file} is a manifest (${kind}), not chart values. Nothing was changed`, [
    ...places.map((path) => command`${nested(wish.again(path.join('.')))}   # if the chart's values are at this path`),
    '--values values.yaml   # the values file of the chart',
  ])
}

/**
 * Finds the values in a manifest that has a place for them. Throws REFUSED if other keys override them, or if none of
 * several places has values.
 */
async function insideOf(
  files: FilesSource,
  file: string,
  kind: string,
  { places, above }: NonNullable<ReturnType<typeof manifestOf>>,
): Promise<readonly string[]> {
  for (const path of above) {
    const look = await files.look(file, path)
    if (look.found < path.length) continue
    throw new AdminError(
      'REFUSED',
      `${file} line ${look.line ?? 1}: ${path.join('.')} overrides the values of this ${kind}. Nothing was changed`,
      [command`sed -n ${`${look.line ?? 1},$p`} ${file}`],
    )
  }
  for (const path of places) if ((await files.look(file, path)).found === path.length) return path
  // with only one possible place, it is known where to add values
  if (places.length === 1) return places[0]!
  throw new AdminError('REFUSED', `the ${kind} in ${file} contains no values. Nothing was changed`, [
    '--values FILE   # a values file that the manifest names',
    ...places.map((path) => valuesAt(path)),
  ])
}

/**
 * Throws REFUSED for a file that looks like values and is something else: its keys would be mistaken for the chart's.
 */
async function refuseOtherFile(files: FilesSource, file: string): Promise<void> {
  const keys = await files.keys(file, [])
  const has = async (...path: string[]): Promise<boolean> => (await files.look(file, path)).found === path.length
  const refused = (what: string, next: Suggestion): AdminError =>
    new AdminError('REFUSED', `${file} is ${what}, not chart values. Nothing was changed`, [next])
  // a helmfile has a list here; in values, `releases` would be a map or a scalar
  if (
    keys.includes('releases') &&
    (await files.keys(file, ['releases'])).length === 0 &&
    (await files.look(file, ['releases'])).text === null
  ) {
    throw refused('a helmfile', '--values FILE   # a file that the helmfile lists under `values`')
  }
  if (keys.includes('apiVersion') && !keys.includes('kind') && keys.includes('name') && keys.includes('version'))
    throw refused('a Chart.yaml', '--values values.yaml   # the values file in the same folder')
  for (const service of await files.keys(file, ['services'])) {
    if (
      !keys.includes('image') &&
      ((await has('services', service, 'image')) || (await has('services', service, 'build')))
    )
      throw refused('a compose file', command`testops-admin use-legacy-image --compose ${file}`)
  }
}

/** A value to change, and where. */
export interface WantedEdit {
  file: string
  path: readonly string[]
  to: string | null
}

/** Returns one step for each file, which is replaced once. Throws REFUSED if an edit cannot be made. */
export async function editSteps(files: FilesSource, wanted: readonly WantedEdit[]): Promise<Step[]> {
  const byFile = [...new Set(wanted.map(({ file }) => file))]
  return Promise.all(
    byFile.map(async (file) => {
      const edits = await files.edits(
        file,
        wanted.filter((it) => it.file === file),
      )
      const what = edits
        .map(({ path, to }) =>
          to === null ? `remove ${path.join('.')}` : `set ${path.join('.')} to ${to === '' ? "''" : to}`,
        )
        .join(', ')
      return { title: `${what} in ${file}`, action: { kind: 'edit-values' as const, file, edits }, interrupts: false }
    }),
  )
}

export function editImpact(wanted: readonly WantedEdit[]): Record<string, number> {
  return wanted.length === 0 ? {} : { valuesChanged: wanted.length }
}

/** Says when an edit takes effect: with the next helm upgrade, or once the manifest is committed or applied. */
export function effectNote(values: readonly string[], { all }: ValuesPlace): string {
  if (all.length > 0)
    return 'only the file changes. The change takes effect when somebody commits or applies the manifest'
  return (
    'only the file changes. The change takes effect at the next helm upgrade with ' +
    `${typed(values.flatMap((file) => ['-f', file]))}`
  )
}
