import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { FilesSource, ValueLook } from '../../core/sources.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** The file that counts for a key, and what it has there. */
export interface Chosen {
  file: string
  look: ValueLook
}

/**
 * Of several values files in Helm's order, in which the later wins: the last that has the key, or sets something above it that is no
 * map. Where none does, the one that has most of the way to it, the later of two.
 */
export async function chooseFile(files: FilesSource, values: readonly string[], path: readonly string[]): Promise<Chosen> {
  const all: Chosen[] = []
  for (const file of values) all.push({ file, look: await files.look(file, path) })
  const deciding = all.findLast(({ look }) => look.found === path.length || (look.found > 0 && !look.isOpen))
  const most = Math.max(...all.map(({ look }) => look.found))
  return deciding ?? all.findLast(({ look }) => look.found === most)!
}

/** Throws USAGE where no file has the map that `--path` names: what is written beside it has no effect. */
export async function assertPath(files: FilesSource, values: readonly string[], prefix: readonly string[], again: (path: string) => ShellCommand): Promise<void> {
  if (prefix.length === 0) return
  const { look } = await chooseFile(files, values, prefix)
  if (look.found === prefix.length) return
  const known = (await Promise.all(values.map(async (file) => files.keys(file, prefix.slice(0, look.found))))).flat()
  const near = nearestNames(prefix[look.found]!, known).map((key) => again([...prefix.slice(0, look.found), key].join('.')))
  const hint = known.length === 0 ? '' : `; ${closestTo(prefix[look.found]!, known)}`
  throw new AdminError('USAGE', `there is no ${prefix.join('.')} in ${values.join(', ')}${hint}`, near)
}

/**
 * Throws REFUSED where the values of the chart seem to lie below a key, as in an umbrella chart, and no `--path` names it: what is
 * written at the top has no effect then. `signs`: keys of the chart, of which one at the top tells that it is none.
 */
export async function refuseUmbrella(files: FilesSource, values: readonly string[], signs: readonly (readonly string[])[], again: (path: string) => ShellCommand): Promise<void> {
  const isThere = async (file: string, path: readonly string[]): Promise<boolean> => (await files.look(file, path)).found === path.length
  for (const file of values) for (const sign of signs) if ((await files.look(file, sign)).found > 0) return
  const below: string[] = []
  for (const file of values) {
    for (const key of await files.keys(file, [])) for (const sign of signs) if (await isThere(file, [key, ...sign])) below.push(key)
  }
  const [key] = below
  if (key === undefined) return
  const keys = [...new Set(below)]
  throw new AdminError('REFUSED', `the chart's values lie below ${keys.join(', ')}, as in an umbrella chart: at the top they would have no effect`, keys.map(again))
}
