import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import { withRestart } from './apply/compose.ts'
import { installedChart } from './apply/surroundings.ts'
import type { ChartOptions } from './apply/release.ts'
import { applyReads } from './apply/surroundings.ts'
import { wantedName } from './legacy-image/build.ts'
import type { Asked } from './legacy-image/build.ts'
import { planForCompose } from './legacy-image/compose.ts'
import { planForValues } from './legacy-image/values.ts'
import type { ShellCommand } from '../core/shell-command.ts'

/** One of `values` and `compose`, as absolute paths. */
export interface LegacyOptions {
  /** the file by which the work is known (`fileOf`); absent: a deployment is */
  main?: string
  /** of --apply: the chart, for values; true, for a compose file */
  apply?: ChartOptions | true
  /** of --chart, without --apply */
  chart?: ChartOptions
  /** of -d, where commands that are proposed name it */
  deployment?: string
  /** in Helm's order: the later wins */
  values?: readonly string[]
  /** the chart's own keys in an umbrella chart */
  path?: readonly string[]
  compose?: string
  service?: string | null
  build: string | null
  revert: boolean
}

/** Rewrites the image's name in a chart's values or in a compose file; no deployment is needed for it. */
export const useLegacyImage = defineRepair({
  id: 'use-legacy-image',
  title: 'use the image for processors without x86-64-v3',
  reads: ['files'],
  wants: applyReads,
  async plan({ files, ...sources }, deployment, options: LegacyOptions) {
    const { values = [], path = [], compose, service = null, build, revert, apply } = options
    const asked: Asked = { build, revert, isApplied: apply !== undefined, again: (...more) => again(options, more) }
    const around = { sources, deployment }
    if (compose === undefined) {
      const applying = typeof apply === 'object' ? { chart: apply, around } : null
      return planForValues(
        files,
        values,
        path,
        asked,
        applying === null ? (options.chart ?? null) : await installedChart(applying.chart, around),
        applying,
      )
    }
    const { draft, service: edited } = await planForCompose(files, compose, service, asked)
    return apply === undefined
      ? draft
      : withRestart(draft, { file: compose, service: edited, name: wantedName(asked) }, files, around)
  },
})

/** The flags that name a chart. */
export function chartWords(chart: ChartOptions | undefined): string[][] {
  if (chart === undefined) return []
  return [['--chart', chart.chart], ...(chart.chartVersion === null ? [] : [['--chart-version', chart.chartVersion]])]
}

/** `more` stands above what was given. */
function again(
  { values = [], path = [], compose, service, build, revert, apply, chart, deployment }: LegacyOptions,
  more: readonly string[],
): ShellCommand {
  const given = [
    ...values.map((file) => ['--values', file]),
    ...(path.length > 0 ? [['--path', path.join('.')]] : []),
    ...(compose === undefined ? [] : [['--compose', compose]]),
    ...(service == null ? [] : [['--service', service]]),
    ...(build === null ? [] : [['--build', build]]),
    ...(revert ? [['--revert']] : []),
    ...(apply === undefined ? [] : [['--apply']]),
    ...chartWords(typeof apply === 'object' ? apply : chart),
    ...(deployment === undefined ? [] : [['-d', deployment]]),
  ].filter(([flag]) => !more.includes(flag!))
  return typed(['testops-admin', 'use-legacy-image', ...given.flat(), ...more])
}
