import { Flags } from '@oclif/core'
import { dirname, resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { ChartOptions } from '../../repairs/apply/release.ts'
import { saysImage } from '../../repairs/legacy-image/compose.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { defaultTimeoutSeconds, interruptible } from '../interrupt.ts'

/** Flags of commands that edit files, and may then apply the edit. */
export const applyFlags = {
  apply: Flags.boolean({
    summary: 'Also upgrade the Helm release or recreate the container, and wait until the service is up',
  }),
  chart: Flags.string({
    summary: 'Check the edit against this chart: a folder, an archive, REPOSITORY/NAME or a URL',
    helpValue: 'CHART',
  }),
  'chart-version': Flags.string({
    summary: 'Use this version of the chart; with --apply, it must be the installed version',
    helpValue: 'VERSION',
    relationships: [{ type: 'some', flags: ['chart', 'apply'] }],
  }),
}

interface Named {
  /** Seconds to wait for any single answer */
  timeout?: number | undefined
  deployment?: string | undefined
  config?: string | undefined
  values?: string[] | undefined
  compose?: string | undefined
  service?: string | undefined
  path?: string | undefined
  apply?: boolean
  chart?: string | undefined
  'chart-version'?: string | undefined
}

/** Files that the configuration names, in the form of the flags that name them. */
interface NamedByConfiguration {
  values?: string[]
  compose?: string
  service?: string
  path?: string
  selected: SelectedDeployment
}

/**
 * Returns the deployment that is meant, and the files: those of the flags, else of its configuration. Throws USAGE if
 * there are none.
 */
export async function filesOfDeployment(flags: Named): Promise<NamedByConfiguration> {
  const selected = await interruptible(async (signal) => chosenDeployment(flags, signal)).catch((error: unknown) => {
    throw flags.apply === true || !(error instanceof AdminError) || error.exitCode !== 64
      ? error
      : unsaid('no file is named, either by a flag or in the configuration', error)
  })
  const { kubernetes, compose } = selected.settings
  const path = flags.path ?? kubernetes?.valuesPath
  if (flags.compose !== undefined) return { selected, compose: flags.compose, ...serviceOf(flags.service) }
  const values = flags.values ?? (kubernetes?.values ? [kubernetes.values.path] : undefined)
  if (values !== undefined) return { selected, values, ...(path !== undefined && { path }) }
  if (compose?.file !== undefined)
    return {
      selected,
      compose: resolve(dirname(selected.file), fileOf(compose.file)),
      ...serviceOf(flags.service ?? compose.service),
    }
  const found = await foundFile(selected, flags.timeout ?? defaultTimeoutSeconds)
  if (found) return { selected, compose: found.file, service: flags.service ?? found.service }
  throw unsaid(`no flag gives a file, and neither does the configuration of \`${selected.name}\``)
}

/** Returns the compose file that sets the service's image, else the last one; null if no files are known. */
async function foundFile(
  selected: SelectedDeployment,
  timeout: number,
): Promise<{ file: string; service: string } | null> {
  const { composeFilesOf, openFile } = await import('../../runtime/index.ts')
  const of = await interruptible(async (signal) =>
    composeFilesOf(selected, { timeoutMs: timeout * 1000, environment: process.env, signal }),
  )
  const last = of?.paths.at(-1)
  if (!of || last === undefined) return null
  const files = await openFile({ flag: '--compose', path: last }, [], process.env).open.files()
  for (const file of of.paths.toReversed())
    if (await saysImage(files, file, of.service)) return { file, service: of.service }
  return { file: last, service: of.service }
}

function unsaid(why: string, cause?: unknown): AdminError {
  return new AdminError(
    'USAGE',
    `specify the file to edit: ${why}`,
    [
      '--values values.yaml   # edits this Helm values file; or set kubernetes.values in the configuration',
      '--compose docker-compose.yml   # edits this compose file (only for use-legacy-image); or set ' +
        'compose.file in the configuration',
    ],
    { cause },
  )
}

/** Without --apply: returns the chart that the flags name, else the configuration's; nothing if neither names one. */
export async function chartIfNamed(
  flags: Named,
  selected: SelectedDeployment | undefined,
): Promise<{ chart?: ChartOptions }> {
  if (flags.chart === undefined && selected?.settings.kubernetes?.chart === undefined) return {}
  if (selected !== undefined) return { chart: await chartOf(flags, selected) }
  const { placeIfThere } = await import('../../runtime/index.ts')
  return {
    chart: { chart: await placeIfThere(flags.chart!, process.cwd()), chartVersion: flags['chart-version'] ?? null },
  }
}

/**
 * Returns the chart that the flags name, else the configuration's. Throws USAGE if neither names one: helm does not
 * record where a chart came from.
 */
export async function chartOf(
  flags: Named,
  { settings: { kubernetes }, file, name }: SelectedDeployment,
): Promise<ChartOptions> {
  const { placeIfThere } = await import('../../runtime/index.ts')
  const chartVersion = flags['chart-version'] ?? kubernetes?.chartVersion ?? null
  if (flags.chart !== undefined) return { chart: await placeIfThere(flags.chart, process.cwd()), chartVersion }
  if (kubernetes?.chart !== undefined)
    return { chart: await placeIfThere(kubernetes.chart, dirname(file)), chartVersion }
  throw new AdminError('USAGE', `specify the chart of \`${name}\`: Helm does not record where a chart came from`, [
    '--chart CHART   # CHART is a folder, an archive, REPOSITORY/NAME or a URL; or set kubernetes.chart ' +
      'in the configuration',
    typed(['helm', 'repo', 'list']),
  ])
}

function fileOf(file: string | { path: string }): string {
  return typeof file === 'string' ? file : file.path
}

function serviceOf(service: string | undefined): { service?: string } {
  return service === undefined ? {} : { service }
}
