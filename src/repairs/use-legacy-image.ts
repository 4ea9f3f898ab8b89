import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import { withRestart } from './apply/compose.ts'
import { applyReads, installedChart } from './apply/release.ts'
import type { ChartOptions } from './apply/release.ts'
import { wantedName } from './legacy-image/image.ts'
import type { Asked } from './legacy-image/image.ts'
import { planForCompose } from './legacy-image/compose.ts'
import { planForValues } from './legacy-image/values.ts'
import type { ShellCommand } from '../core/shell-command.ts'

/** One of `values` and `compose`, as absolute paths. */
export interface LegacyOptions {
  /** The file that identifies the work (`fileOf`); absent: a deployment does */
  main?: string
  /** For --apply: the chart if values are edited, true for a compose file */
  apply?: ChartOptions | true
  /** The chart of --chart, without --apply */
  chart?: ChartOptions
  /** The value of -d, for suggested commands */
  deployment?: string
  /** In Helm's order: the later wins */
  values?: readonly string[]
  /** Keys above the chart's own values in an umbrella chart */
  path?: readonly string[]
  compose?: string
  service?: string | null
  build: string | null
  revert: boolean
}

/** Rewrites the image's name in a chart's values or in a compose file. Needs no deployment. */
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

/** Returns the same command with more words; a flag in `more` replaces the given one. */
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
