import { AdminError } from '../../core/error.ts'
import type { Repair } from '../../core/repair.ts'
import type { FilesSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { editImpact, editSteps } from '../files/steps.ts'
import { judgeBuild, judgeName, wantedName } from './build.ts'
import type { Asked } from './build.ts'
import { composeService } from './compose-service.ts'
import { imageText, parseImage, variableOf } from './image-name.ts'
import type { ImageText } from './image-name.ts'
import { needsV3 } from './values.ts'
import { sentence } from '../../core/shell-command.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/**
 * Plans the change of a compose file, and returns the plan with the chosen service. `service`: the value of --service;
 * null: the service with the product's image.
 */
export async function planForCompose(
  files: FilesSource,
  main: string,
  service: string | null,
  asked: Asked,
): Promise<{ draft: Draft; service: string }> {
  const { name: chosen, file, of, image: text, at, others } = await composeService(files, main, service, asked)
  const path = ['services', of, 'image']
  const image = parseImage(text)
  if (image === null) {
    throw new AdminError('REFUSED', `the image name in ${at} is in a variable (${text}). Nothing was changed`, [
      sentence`set that variable in .env beside ${main}`,
    ])
  }
  if (image.digest !== null) {
    throw new AdminError(
      'REFUSED',
      `the image in ${at} is pinned by a digest that belongs to ${image.name} only. Nothing was changed`,
      ["first remove the digest, or replace it with the other image's"],
    )
  }
  const variable = image.tag === null ? null : variableOf(image.tag)
  const declared = variable
    ? (await files.variable(main, variable.name)) || (await files.variable(file, variable.name)) || variable.otherwise
    : image.tag
  const buildRisk = judgeBuild(
    asked,
    { text: declared, isText: true },
    variable ? `.env beside ${main} (${variable.name})` : at,
  )
  const next: ImageText = { ...image, name: wantedName(asked), tag: tagOf(image, asked, declared, at) }
  const wanted = imageText(next) === text ? [] : [{ file, path, to: imageText(next) }]
  const draft: Draft = {
    target: { compose: main, ...(file !== main && { 'image in': file }), service: chosen },
    impact: editImpact(wanted),
    evidence: [
      `${at}: ${path.join('.')}: ${text}`,
      ...(variable ? [`${variable.name} is ${declared ?? 'not set'} in .env beside it`] : []),
    ],
    notes:
      wanted.length === 0
        ? [`the image is already ${next.name}`]
        : [
            ...(asked.isApplied
              ? []
              : [`the change takes effect with: ${typed(['docker', 'compose', '-f', main, 'up', '-d', chosen])}`]),
            ...(others.length > 0
              ? [`${others.join(', ')} ${others.length === 1 ? 'gets its' : 'get their'} image from there too`]
              : []),
            ...(asked.revert ? [needsV3] : []),
          ],
    risks: wanted.length === 0 ? [] : [buildRisk, judgeName(image.name, at)].filter((risk) => risk !== null),
    steps: await editSteps(files, wanted),
    verifiedBy: [],
  }
  return { draft, service: chosen }
}

/** Returns the new tag. Throws REFUSED if --build would replace a tag that a variable sets elsewhere. */
function tagOf({ tag }: ImageText, { build }: Asked, declared: string | null, at: string): string | null {
  if (build === null || build === declared) return tag
  if (tag?.includes('$')) {
    const name = variableOf(tag)?.name ?? 'the variable'
    throw new AdminError('REFUSED', `the tag of the image in ${at} is ${tag}: nothing was changed`, [
      sentence`set ${name}=${build} in .env beside the file, then leave out --build`,
    ])
  }
  return build
}
