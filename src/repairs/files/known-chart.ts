import { listed } from '../../core/format.ts'
import { AdminError } from '../../core/error.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { ChartPlace, EditedValues, FilesSource } from '../../core/sources.ts'
import { isBuildLabel } from '../../knowledge/builds.ts'
import { chartKeys, valuesSigns } from '../../knowledge/chart.ts'
import { effectOf } from './effect.ts'
import type { Effect } from './effect.ts'
import type { ValuesPlace } from './layout.ts'

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
    ['--chart CHART   # if it is another chart', "--path KEY.PATH   # if the chart's values are deeper in the file"],
  )
}

/** Returns the risk that the edit changes more than was requested; null if it does not. */
export function otherChanges(chart: ChartPlace, others: readonly string[]): Risk | null {
  if (others.length === 0) return null
  return {
    name: 'other-changes',
    message: `with these values, chart ${chart.chart} changes more than was requested: ${listed(others, 10)}`,
    proof: ["find what else reads these values in the chart's templates"],
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
    message: `${values.length === 1 ? `${values[0]!} has` : 'the files have'} no ${missing.join(' and no ')}, and nothing shows that the chart reads ${missing.length === 1 ? 'it' : 'them'}`,
    proof: [again('--chart', 'CHART')],
  }
}
