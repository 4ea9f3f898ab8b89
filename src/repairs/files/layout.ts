import { AdminError } from '../../core/error.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import type { FilesSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { valuesSigns } from '../../knowledge/chart.ts'
import { manifestOf, valuesAt } from '../../knowledge/manifests.ts'
import { assertPath, refuseUmbrella } from './choose.ts'

/** What to edit, and how to repeat the command. */
export interface ValuesWish {
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
      `${file} is a manifest (${kind}): ${what?.keeper ?? 'the cluster'} applies it, not helm. Nothing was changed`,
      ['the same command without --apply   # edits the file alone'],
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
    ...places.map((path) => command`${nested(wish.again(path.join('.')))}   # if the chart's values are there`),
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
      `${file} line ${look.line ?? 1}: the ${kind} has ${path.join('.')}, which overrides its values. Nothing was changed`,
      [command`sed -n ${`${look.line ?? 1},$p`} ${file}`],
    )
  }
  for (const path of places) if ((await files.look(file, path)).found === path.length) return path
  // with only one possible place, it is known where to add values
  if (places.length === 1) return places[0]!
  throw new AdminError('REFUSED', `the ${kind} in ${file} has no values of its own: nothing was changed`, [
    '--values FILE   # one of the files that it names',
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
    throw refused('a helmfile', '--values FILE   # one that its release names under `values`')
  }
  if (keys.includes('apiVersion') && !keys.includes('kind') && keys.includes('name') && keys.includes('version'))
    throw refused('a Chart.yaml', '--values values.yaml   # the values file beside it')
  for (const service of await files.keys(file, ['services'])) {
    if (
      !keys.includes('image') &&
      ((await has('services', service, 'image')) || (await has('services', service, 'build')))
    )
      throw refused('a compose file', command`testops-admin use-legacy-image --compose ${file}`)
  }
}
