import { AdminError } from '../../core/error.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import { sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { ChartPlace, FilesSource } from '../../core/sources.ts'
import { chartKeys } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import { withUpgrade } from '../apply/release.ts'
import type { ChartOptions, Surroundings } from '../apply/release.ts'
import { chooseFile, editImpact, editSteps, effectNote, placeOfValues } from '../files/layout.ts'
import type { Chosen, WantedEdit } from '../files/layout.ts'
import { effectOfSteps, otherChanges, unknownChart } from '../files/known-chart.ts'
import type { ChartValues, Effect } from '../files/known-chart.ts'
import { imageText, judgeBuild, judgeName, parseImage, wantedName } from './image.ts'
import type { Asked } from './image.ts'
import { listed } from '../../core/format.ts'

/** What --apply needs. */
export interface Applying {
  chart: ChartOptions
  around: Surroundings
}

/**
 * Plans the change of a chart's values files, in Helm's order. `path`: keys above the chart's own values in an umbrella
 * chart; `chart`: null if it is not known.
 */
export async function planForValues(
  files: FilesSource,
  values: readonly string[],
  path: readonly string[],
  asked: Asked,
  chart: ChartPlace | null,
  applying: Applying | null,
): ReturnType<Repair['plan']> {
  const place = await placeOfValues(files, {
    files: values,
    path,
    keys: [chartKeys.imageName],
    applies: applying !== null,
    again: (it): ShellCommand => asked.again('--path', it),
  })
  const versionPath = [...place.own, ...chartKeys.version]
  const version = await chooseFile(files, values, versionPath)
  refuseDigest(version, asked)
  const image = await imageIn(files, values, place.own)
  const at = `${image.file}${image.look.line === null ? '' : ` line ${image.look.line}`}`
  const wanted = wantedName(asked)
  const next = imageText({ ...image.parts, name: wanted })
  const buildRisk = judgeBuild(asked, version.look, version.file)
  const edits: WantedEdit[] = [
    ...(image.parts.name === wanted ? [] : [{ file: image.file, path: image.path, to: next }]),
    ...(asked.build === null || asked.build === version.look.text
      ? []
      : [{ file: version.file, path: versionPath, to: asked.build }]),
  ]
  const steps = await editSteps(files, edits)
  const shown =
    image.look.text === null
      ? `no file sets ${image.path.join('.')}: the chart's own default is ${images.standard}`
      : `${at}: ${image.path.join('.')}: ${image.look.text}`
  const tag =
    version.look.text === null
      ? `no file sets ${versionPath.join('.')}`
      : `${version.file} line ${version.look.line ?? 1}: ${versionPath.join('.')}: ${version.look.text}`
  const draft = {
    target: Object.fromEntries(
      [...new Set([image.file, ...edits.map(({ file }) => file)])].map((file, index) => [
        index === 0 ? 'values' : `values ${index + 1}`,
        file,
      ]),
    ),
    impact: editImpact(edits),
    evidence: [shown, tag],
    notes: [
      ...(edits.length === 0
        ? [`the image is already ${wanted}${applying ? ' in the files' : ''}`]
        : applying
          ? []
          : [effectNote(values, place)]),
      ...(asked.revert && (edits.length > 0 || applying) ? [needsV3] : []),
    ],
    risks:
      edits.length === 0 && !applying
        ? []
        : [buildRisk, judgeName(image.parts.name, at)].filter((risk) => risk !== null),
    steps,
    verifiedBy: [],
  }
  const all = [
    { path: image.path, to: next },
    ...(asked.build === null ? [] : [{ path: versionPath, to: asked.build }]),
  ]
  const made = applying === null ? draft : await withUpgrade(draft, all, values, applying.chart, applying.around)
  if (edits.length === 0) return made
  const known = { files: values, place }
  const keys = edits.map((it) => it.path.slice(place.own.length))
  const risk =
    chart === null
      ? await unknownChart(files, known, keys, asked.again)
      : await judgedByChart(files, chart, known, steps, { from: image.parts.name, to: wanted, build: asked.build })
  return risk === null ? made : { ...made, risks: [...made.risks, risk] }
}

/** Returns the risk that more than the image changes; null if not. Throws REFUSED if another image changes, or none. */
async function judgedByChart(
  files: FilesSource,
  chart: ChartPlace,
  known: ChartValues,
  steps: readonly Step[],
  change: ImageChange,
): Promise<Risk | null> {
  const effect = await effectOfSteps(files, chart, known, steps)
  if (effect === null) return null
  refuseOtherImages(effect, change, chart)
  return otherChanges(chart, [...effect.others, ...effect.settings.map(({ at, name }) => `${at}, ${name}`)])
}

/**
 * Finds where the image's name is set, and splits that text. Throws REFUSED if the text is more than a name, or if the
 * name is set nowhere.
 */
export async function imageIn(
  files: FilesSource,
  values: readonly string[],
  own: readonly string[],
): Promise<Chosen & { path: readonly string[]; parts: NonNullable<ReturnType<typeof parseImage>> }> {
  const path = [...own, ...chartKeys.imageName]
  const name = await chooseFile(files, values, path)
  const at = `${name.file}${name.look.line === null ? '' : ` line ${name.look.line}`}`
  const { text } = name.look
  if (name.look.found < path.length || (await files.keys(name.file, path)).length > 0)
    return { ...name, path, parts: { before: '', name: images.standard, tag: null, digest: null } }
  if (text !== null && text.trim() !== '') {
    const parts = parseImage(text.trim())
    if (parts !== null && parts.tag === null && parts.digest === null) return { ...name, path, parts }
    throw new AdminError(
      'REFUSED',
      `${path.join('.')} in ${at} is ${text}, but must be an image name without tag or digest. Nothing was changed`,
      [sentence`put the tag into ${[...own, ...chartKeys.version].join('.')} first`],
    )
  }
  // the chart falls back to the repository, which holds the whole name then (FIELD-NOTES.md 1.1)
  const inside = [...own, ...chartKeys.repository]
  const repository = await chooseFile(files, values, inside)
  const parts = repository.look.text === null ? null : parseImage(repository.look.text.trim())
  const isOurs = parts !== null && ([images.standard, images.legacy] as readonly string[]).includes(parts.name)
  if (isOurs && parts.tag === null && parts.digest === null) return { ...repository, path: inside, parts }
  throw new AdminError(
    'REFUSED',
    `${path.join('.')} in ${at} is empty, so the chart takes the whole image name from ${inside.join('.')}. ` +
      'Nothing was changed',
    [
      sentence`first set ${inside.join('.')} to the repository without the image name, and ${path.join('.')} to
        ${images.standard}`,
    ],
  )
}

/** Throws REFUSED if the version is a digest, which belongs to one image, and --build does not replace it. */
function refuseDigest({ file, look: { text, line } }: Chosen, { build }: Asked): void {
  if (build !== null || text === null || !/@|^sha\d+:/.test(text)) return
  throw new AdminError(
    'REFUSED',
    `${file} line ${line ?? 1} pins the image to a digest, and another image has another digest. ` +
      'Nothing was changed',
    [
      'first remove the digest, or replace it with the digest of the new image',
      sentence`or replace the digest with a build: --build BUILD`,
    ],
  )
}

export const needsV3 =
  'since build 526u03, image testops needs processors with x86-64-v3. Check your machines: testops-admin check-cpu'

/** The intended change of the service's image. */
interface ImageChange {
  from: string
  to: string
  /** Null: its tag stays */
  build: string | null
}

/**
 * Throws REFUSED if an image would change in more than its name (and its tag, if --build was given), if no image would
 * change, or if another service's image would.
 */
function refuseOtherImages({ images }: Effect, { from, to, build }: ImageChange, { chart }: ChartPlace): void {
  const isMeant = (was: string, is: string): boolean => {
    const parts = parseImage(was)
    return (
      parts !== null &&
      parts.name === from &&
      parts.digest === null &&
      imageText({ ...parts, name: to, tag: build ?? parts.tag }) === is
    )
  }
  const others = images.filter(({ was, is }) => !isMeant(was, is))
  if (others.length > 0) {
    const shown = others.map(({ at, was, is }) => `${at}: ${was} to ${is}`)
    throw new AdminError(
      'REFUSED',
      `with the new values, chart ${chart} would make image changes that were not requested: ` +
        `${listed(shown, 5)}. Nothing was changed`,
      [
        '--chart CHART   # if the values files belong to another chart',
        "or edit the values by hand, and change only the service's image",
      ],
    )
  }
  if (images.length > 0) return
  throw new AdminError(
    'REFUSED',
    `with the new values, chart ${chart} renders the same images as before, so the image would not change. ` +
      'Nothing was changed',
    ['--chart CHART   # if the values files belong to another chart'],
  )
}
