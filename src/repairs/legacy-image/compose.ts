import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { Repair } from '../../core/repair.ts'
import type { FilesSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { images } from '../../knowledge/images.ts'
import { editImpact, editSteps } from '../files/steps.ts'
import { judgeBuild, judgeName, wantedName } from './build.ts'
import type { Asked } from './build.ts'
import { imageText, parseImage, variableOf } from './image-name.ts'
import type { ImageText } from './image-name.ts'
import { needsV3 } from './values.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/** Of a compose file, with the service that was chosen; `service`: of --service, null: the one whose image is the product's. */
export async function planForCompose(files: FilesSource, file: string, service: string | null, asked: Asked): Promise<{ draft: Draft; service: string }> {
  const chosen = service ?? (await onlyService(files, file, asked))
  const path = ['services', chosen, 'image']
  const { text, line, found } = await files.look(file, path)
  const at = `${file}${line === null ? '' : ` line ${line}`}`
  if (found < 2) {
    const known = await files.keys(file, ['services'])
    const hint = known.length === 0 ? 'it has none' : closestTo(chosen, known)
    throw new AdminError('USAGE', `there is no service ${chosen} in ${file}; ${hint}`, nearestNames(chosen, known).map((it) => asked.again('--service', it)))
  }
  if (text === null) throw new AdminError('REFUSED', `service ${chosen} in ${at} has no image of its own: nothing was changed`, [typed(['docker', 'compose', '-f', file, 'config'])])
  const image = parseImage(text)
  if (image === null) {
    throw new AdminError('REFUSED', `the name of the image in ${at} is in a variable (${text}): nothing was changed`, [`set that variable in .env beside ${file}`])
  }
  if (image.digest !== null) {
    throw new AdminError('REFUSED', `the image in ${at} is pinned by its digest, which is of ${image.name} alone: nothing was changed`, ['take the digest away first, or put the other image\'s in its place'])
  }
  const variable = image.tag === null ? null : variableOf(image.tag)
  const declared = variable ? ((await files.variable(file, variable.name)) ?? variable.otherwise) : image.tag
  const buildRisk = judgeBuild(asked, { text: declared, isText: true }, variable ? `.env beside ${file} (${variable.name})` : at)
  const next: ImageText = { ...image, name: wantedName(asked), tag: tagOf(image, asked, declared, at) }
  const wanted = imageText(next) === text ? [] : [{ file, path, to: imageText(next) }]
  const draft: Draft = {
    target: { compose: file, service: chosen },
    impact: editImpact(wanted),
    evidence: [`${at}: ${path.join('.')}: ${text}`, ...(variable ? [`${variable.name} is ${declared ?? 'not set'} in .env beside it`] : [])],
    notes: wanted.length === 0 ? [`the image is ${next.name} already`] : [`it takes effect with: ${typed(['docker', 'compose', '-f', file, 'up', '-d', chosen])}`, ...(asked.revert ? [needsV3] : [])],
    risks: wanted.length === 0 ? [] : [buildRisk, judgeName(image.name, at)].filter((risk) => risk !== null),
    steps: await editSteps(files, wanted),
    verifiedBy: [],
  }
  return { draft, service: chosen }
}

/** Throws REFUSED where a variable holds the tag, which is set elsewhere. */
function tagOf({ tag }: ImageText, { build }: Asked, declared: string | null, at: string): string | null {
  if (build === null || build === declared) return tag
  if (tag?.includes('$')) {
    const name = variableOf(tag)?.name ?? 'the variable'
    throw new AdminError('REFUSED', `the tag of the image in ${at} is ${tag}: nothing was changed`, [`set ${name}=${build} in .env beside the file, then leave out --build`])
  }
  return build
}

async function onlyService(files: FilesSource, file: string, asked: Asked): Promise<string> {
  const services = await files.keys(file, ['services'])
  const own: string[] = []
  for (const service of services) {
    const { text } = await files.look(file, ['services', service, 'image'])
    const name = text === null ? null : (parseImage(text)?.name ?? null)
    if (name === images.standard || name === images.legacy) own.push(service)
  }
  if (own.length === 1) return own[0]!
  if (own.length > 1) throw new AdminError('USAGE', `several services in ${file} run ${images.standard}: ${own.join(', ')}`, own.map((it) => asked.again('--service', it)))
  const what = services.length === 0 ? 'has no services: it is no compose file' : `has no service with image ${images.standard} or ${images.legacy}`
  throw new AdminError('REFUSED', `${file} ${what}; nothing was changed`, services.slice(0, 5).map((it) => asked.again('--service', it)))
}
