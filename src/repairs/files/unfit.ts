import type { FilesSource, ValueLook } from '../../core/sources.ts'
import { chartKeys } from '../../knowledge/chart.ts'
import { chooseFile } from './layout.ts'
import type { ValuesPlace } from './layout.ts'

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
 * Returns what Helm has at a path after all files, looked at one key deeper; null: nothing. A later map replaces what is
 * none, and the other way round.
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
