import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { FilesSource, ValueLook } from '../../core/sources.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { chartKeys } from '../../knowledge/chart.ts'

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
export async function assertPath(
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
  throw new AdminError('USAGE', `there is no ${prefix.join('.')} in ${values.join(', ')}${hint}`, near)
}

/**
 * Throws REFUSED if the chart's values seem to lie deeper than `below`, as in an umbrella chart: values written at
 * `below` would have no effect. `keys`: the keys to change.
 */
export async function refuseUmbrella(
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
    `the chart's values are below ${deeper.join(', ')}, as in an umbrella chart. Values ${below.length === 0 ? 'at the top' : `directly below ${below.join('.')}`} would have no effect`,
    deeper.map(again),
  )
}
