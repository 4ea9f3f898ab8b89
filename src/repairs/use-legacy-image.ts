import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import { applyReads, installedChart, needed } from './apply/release.ts'
import type { ChartOptions, Surroundings } from './apply/release.ts'
import { built, imageText, parseImage, wantedName } from './legacy-image/image.ts'
import type { Asked } from './legacy-image/image.ts'
import { planForCompose } from './legacy-image/compose.ts'
import { planForValues } from './legacy-image/values.ts'
import type { ShellCommand } from '../core/shell-command.ts'
import { AdminError } from '../core/error.ts'
import type { Step } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import { command, sentence } from '../core/shell-command.ts'
import type { EditedFile, FilesSource, ServiceImage, ServiceSource, ValueEdit, WantedImage } from '../core/sources.ts'
import { startStep, stopStep, lookAtService } from './service-steps.ts'

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

function fetchStep({ image, platform }: WantedImage): Step {
  return {
    title: `fetch image ${image}${platform === null ? '' : ` for ${platform}`}, unless this machine already has it`,
    action: { kind: 'fetch-image', image, platform },
    interrupts: false,
  }
}

/**
 * Returns the image with which the draft's edit recreates the service, variables filled in, as the compose program sees
 * it. `name`: the expected image name. Throws REFUSED if the edit results in another image or changes more; otherwise
 * as `ServiceSource.composed`.
 */
async function imageToFetch(
  { steps }: Draft,
  { service, name }: { service: string; name: string },
  source: ServiceSource,
): Promise<WantedImage> {
  const [edited = null] = steps.flatMap(({ action }): EditedFile[] =>
    action.kind === 'edit-values' ? [{ file: action.file, edits: action.edits }] : [],
  )
  const { now, then, platform, isBuilt, others } = await composedOf(source, edited)
  if (isBuilt) throw built(service)
  if (others.length > 0) {
    throw new AdminError(
      'REFUSED',
      `this edit would also change ${others.slice(0, 5).join(', ')}. Nothing was changed`,
      [sentence`first give ${service} a separate \`image\``],
    )
  }
  const wanted = now === null ? null : expected(now, edited?.edits[0], name)
  if (wanted !== null && (then === undefined || then === wanted)) return { image: wanted, platform }
  const is = then ?? now
  throw new AdminError(
    'REFUSED',
    `with this edit, compose would start ${service} with ${is == null ? 'an unnamed image' : `image ${is}`}, ` +
      `not with ${wanted ?? name}: another file or a variable overrides the edit. Nothing was changed`,
    [command`docker compose config ${service}   # shows the combined result of all compose files`],
  )
}

async function composedOf(
  source: ServiceSource,
  edited: EditedFile | null,
): ReturnType<NonNullable<ServiceSource['composed']>> {
  if (source.composed) return source.composed(edited)
  throw new AdminError('NOT_CONFIGURED', 'this deployment does not run under compose. Nothing was changed', [
    'the same command without --apply   # only edits the file',
  ])
}

/** Returns the current image with the edit applied; null if the edit is of another image. */
function expected(now: string, edit: ValueEdit | undefined, name: string): string | null {
  const is = parseImage(now)
  if (is === null || edit === undefined) return is?.name === name ? now : null
  const [from, to] = [parseImage(edit.from ?? ''), parseImage(edit.to ?? '')]
  if (from?.name !== is.name || to?.name !== name) return null
  return imageText({ ...is, name, tag: to.tag === from.tag ? is.tag : to.tag })
}

type Draft = Awaited<ReturnType<Repair['plan']>>

/** The image of a compose service that an edit changes, and its new name. */
interface Edited {
  file: string
  service: string
  name: string
}

/**
 * Adds to the edit of a compose file: fetching the new image before anything stops, and the restart that recreates the
 * service's container.
 */
async function withRestart(
  draft: Draft,
  { file, service: edited, name }: Edited,
  files: FilesSource,
  { sources, deployment }: Surroundings,
): Promise<Draft> {
  const service = needed(sources.service)
  const [seen, image] = await Promise.all([lookAtService({ ...sources, service }, deployment), service.image()])
  refuseOtherFile(file, image, deployment.name)
  refuseOtherService(edited, image, deployment.name)
  await refuseOverridden(file, edited, image, files)
  const target = { ...draft.target, service: seen.target }
  // the container was recreated already, or had the image from the start
  if (draft.steps.length === 0 && image.name === name) return { ...draft, target }
  const runs = seen.status.state === 'running' || seen.status.startsAgain === true
  const fetched = await imageToFetch(draft, { service: edited, name }, service)
  const isHere = (await service.hasImage?.(fetched)) === true
  const stop = stopStep(seen.status)
  const start: Step = { ...startStep(), action: { kind: 'start-service', stopsOnUndo: true } }
  return {
    ...draft,
    target,
    impact: { ...draft.impact, ...(runs ? { serviceRestarts: 1 } : { serviceStarts: 1 }) },
    notes: [
      ...draft.notes,
      ...seen.notes,
      isHere
        ? `image ${fetched.image} is already on this machine, so the repair does not fetch it`
        : `the service keeps running while the repair fetches image ${fetched.image}. The image stays on this ` +
          'machine, even after an undo',
    ],
    risks: [...draft.risks, ...seen.risks, ...seen.startRisks],
    steps: [fetchStep(fetched), stop, ...draft.steps, start],
    verifiedBy: ['service/running', 'api/reachable'],
  }
}

/** Throws REFUSED if the file does not start the service. */
function refuseOtherFile(file: string, { files }: ServiceImage, deployment: string): void {
  if (files?.includes(file)) return
  const why =
    files === undefined || files.length === 0
      ? `cannot tell whether deployment \`${deployment}\` uses ${file}: its compose files are unknown`
      : `deployment \`${deployment}\` uses ${files.join(', ')}, not ${file}`
  throw new AdminError(
    'REFUSED',
    `${why}. Nothing was changed`,
    files?.map((it) => command`--compose ${it}`) ?? ['the same command without --apply   # only edits the file'],
  )
}

/** Throws REFUSED if another service than the edited one would restart. */
function refuseOtherService(edited: string, { service }: ServiceImage, deployment: string): void {
  if (service === undefined || service === edited) return
  throw new AdminError(
    'REFUSED',
    `deployment \`${deployment}\` runs as service ${service}, but the edit is for service ${edited}. ` +
      'Nothing was changed',
    [typed(['--service', service])],
  )
}

/** Throws REFUSED if a later file of the service sets its image: an edit before it has no effect. */
async function refuseOverridden(
  file: string,
  service: string,
  { files: all = [] }: ServiceImage,
  files: FilesSource,
): Promise<void> {
  for (const later of all.slice(all.indexOf(file) + 1)) {
    const { text } = await files.look(later, ['services', service, 'image'])
    if (text !== null)
      throw new AdminError(
        'REFUSED',
        `${later} also sets the image of ${service} and overrides ${file}. Nothing was changed`,
        [typed(['--compose', later])],
      )
  }
}
