import { AdminError } from '../../core/error.ts'
import type { Repair } from '../../core/repair.ts'
import type { FilesSource } from '../../core/sources.ts'
import { chartKeys } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import { withUpgrade } from '../apply/release.ts'
import type { ChartOptions } from '../apply/release.ts'
import type { Surroundings } from '../apply/surroundings.ts'
import { assertPath, chooseFile, refuseUmbrella } from '../files/choose.ts'
import { editImpact, editSteps, helmNote } from '../files/steps.ts'
import type { WantedEdit } from '../files/steps.ts'
import { judgeBuild, judgeName, wantedName } from './build.ts'
import type { Asked } from './build.ts'
import { sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** Of a chart's values files, in Helm's order; `prefix`: the chart's own keys in an umbrella chart. */
export async function planForValues(files: FilesSource, values: readonly string[], prefix: readonly string[], asked: Asked, applying: Applying | null): ReturnType<Repair['plan']> {
  const below = (path: string): ShellCommand => asked.again('--path', path)
  await assertPath(files, values, prefix, below)
  if (prefix.length === 0) await refuseUmbrella(files, values, [chartKeys.imageName, chartKeys.version], below)
  const [namePath, versionPath] = [[...prefix, ...chartKeys.imageName], [...prefix, ...chartKeys.version]]
  const name = await chooseFile(files, values, namePath)
  const version = await chooseFile(files, values, versionPath)
  const at = `${name.file}${name.look.line === null ? '' : ` line ${name.look.line}`}`
  if (name.look.text?.trim() === '') {
    const repository = [...prefix, 'image', 'repository'].join('.')
    throw new AdminError('REFUSED', `${namePath.join('.')} in ${at} is empty, so that ${repository} holds the whole name of the image: nothing was changed`, [
      sentence`set ${repository} to the repository alone, and ${namePath.join('.')} to ${images.standard}, first`,
    ])
  }
  const current = name.look.text ?? images.standard
  const wanted = wantedName(asked)
  const buildRisk = judgeBuild(asked, version.look, version.file)
  const edits: WantedEdit[] = [
    ...(current === wanted ? [] : [{ file: name.file, path: namePath, to: wanted }]),
    ...(asked.build === null || asked.build === version.look.text ? [] : [{ file: version.file, path: versionPath, to: asked.build }]),
  ]
  const steps = await editSteps(files, edits)
  const shown = name.look.text === null ? `${namePath.join('.')} is set in none of the files: the chart's own default is ${images.standard}` : `${at}: ${namePath.join('.')}: ${current}`
  const tag = version.look.text === null ? `${versionPath.join('.')} is set in none of the files` : `${version.file} line ${version.look.line ?? 1}: ${versionPath.join('.')}: ${version.look.text}`
  const draft = {
    target: Object.fromEntries([...new Set([name.file, ...edits.map(({ file }) => file)])].map((file, index) => [index === 0 ? 'values' : `values ${index + 1}`, file])),
    impact: editImpact(edits),
    evidence: [shown, tag],
    notes: [...(edits.length === 0 ? [`the image is ${wanted} already${applying ? ' in the files' : ''}`] : applying ? [] : [helmNote(values)]), ...(asked.revert && (edits.length > 0 || applying) ? [needsV3] : [])],
    risks: edits.length === 0 && !applying ? [] : [buildRisk, judgeName(current, at)].filter((risk) => risk !== null),
    steps,
    verifiedBy: [],
  }
  if (applying === null) return draft
  const all = [{ path: namePath, to: wanted }, ...(asked.build === null ? [] : [{ path: versionPath, to: asked.build }])]
  return withUpgrade(draft, all, values, applying.chart, applying.around)
}

/** Of --apply. */
export interface Applying {
  chart: ChartOptions
  around: Surroundings
}

export const needsV3 = 'image testops needs x86-64-v3 from build 526u03 on; this tells whether machines have it: testops-admin check-cpu'
