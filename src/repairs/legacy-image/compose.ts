import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { Repair } from '../../core/repair.ts'
import { sentence } from '../../core/shell-command.ts'
import type { FilesSource, ValueLook } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { images } from '../../knowledge/images.ts'
import { editImpact, editSteps } from '../files/layout.ts'
import type { Asked, ImageText } from './image.ts'
import { built, imageText, judgeBuild, judgeName, parseImage, variableOf, wantedName } from './image.ts'
import { needsV3 } from './values.ts'

/**
 * A service of a compose file, and where its image is set: there, in an included file, or in the service it extends.
 */
interface Seen {
  name: string
  file: string
  /** The service that sets the image, if `name` extends it; else `name` */
  of: string
  look: ValueLook
  /** The file of the extended service as written, if it is not on this machine; else null */
  beyond: string | null
}

/** The service whose image to change. */
interface ComposeService extends Pick<Seen, 'name' | 'file' | 'of'> {
  image: string
  /** File and line of the image, for people */
  at: string
  /** Other services that take their image from the same place */
  others: readonly string[]
}

/**
 * Finds the service of that name in a compose file and all that it includes; null: the one with the product's image.
 * Throws USAGE for an unknown or ambiguous service, REFUSED if its image cannot be changed there.
 */
async function composeService(
  files: FilesSource,
  file: string,
  name: string | null,
  asked: Asked,
): Promise<ComposeService> {
  const { services, elsewhere } = await servicesOf(files, file)
  const unseen =
    elsewhere.length === 0 ? '' : `; included files that are not on this machine were not read: ${elsewhere.join(', ')}`
  const known = [...new Set(services.map((it) => it.name))]
  if (name !== null && !known.includes(name)) {
    const hint = known.length === 0 ? 'the file has no services' : closestTo(name, known)
    throw new AdminError(
      'USAGE',
      `no service ${name} in ${file}; ${hint}${unseen}`,
      nearestNames(name, known).map((it) => asked.again('--service', it)),
    )
  }
  const meant = services.filter((it) => (name === null ? isProduct(it.look) : it.name === name))
  const names = [...new Set(meant.map((it) => it.name))]
  if (names.length > 1)
    throw new AdminError(
      'USAGE',
      `several services in ${file} run ${images.standard}: ${names.join(', ')}`,
      names.map((it) => asked.again('--service', it)),
    )
  // a service declared in two files has its image in one of them
  const own = meant.findLast(({ look }) => look.text !== null) ?? meant.at(-1)
  if (own === undefined) {
    const what =
      known.length === 0 && unseen === ''
        ? 'has no services: it is not a compose file'
        : `has no service with image ${images.standard} or ${images.legacy}`
    throw new AdminError(
      'REFUSED',
      `${file} ${what}${unseen}. Nothing was changed`,
      known.slice(0, 5).map((it) => asked.again('--service', it)),
    )
  }
  const {
    look: { text, line },
    beyond,
  } = own
  const at = `${own.file}${line === null ? '' : ` line ${line}`}`
  if (text !== null && (await files.keys(own.file, ['services', own.of])).includes('build')) throw built(own.of)
  if (text !== null)
    return {
      ...own,
      image: text,
      at,
      others: services
        .filter((it) => it.name !== own.name && it.file === own.file && it.of === own.of)
        .map((it) => it.name),
    }
  const why = beyond === null ? 'sets no image' : `extends a service in ${beyond}, a file that is not on this machine`
  throw new AdminError('REFUSED', `service ${own.of} in ${at} ${why}. Nothing was changed`, [
    typed(['docker', 'compose', '-f', file, 'config']),
  ])
}

/** True if a compose file, with all that it includes, sets the image of that service. */
export async function saysImage(files: FilesSource, file: string, service: string): Promise<boolean> {
  return (await servicesOf(files, file)).services.some((it) => it.name === service && it.look.text !== null)
}

async function servicesOf(
  files: FilesSource,
  file: string,
): Promise<{ services: Seen[]; elsewhere: readonly string[] }> {
  const { files: all, others: elsewhere } = await files.included(file)
  const services: Seen[] = []
  for (const path of all)
    for (const service of await files.keys(path, ['services'])) services.push(await seen(files, path, service))
  return { services, elsewhere }
}

async function seen(
  files: FilesSource,
  file: string,
  name: string,
  of = name,
  above: readonly string[] = [],
): Promise<Seen> {
  const look = await files.look(file, ['services', of, 'image'])
  const extended = look.text === null ? await files.extended(file, of) : null
  const id = JSON.stringify([file, of])
  if (extended === null || above.includes(id)) return { name, file, of, look, beyond: null }
  if (extended.file === null) return { name, file, of, look, beyond: extended.named }
  return seen(files, extended.file, name, extended.service, [...above, id])
}

function isProduct({ text }: ValueLook): boolean {
  const name = text === null ? null : (parseImage(text)?.name ?? null)
  return name === images.standard || name === images.legacy
}

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
    throw new AdminError('REFUSED', `the image name in ${at} comes from a variable (${text}). Nothing was changed`, [
      sentence`change this variable in .env next to ${main}, so that the image name becomes ${wantedName(asked)}`,
    ])
  }
  if (image.digest !== null) {
    throw new AdminError(
      'REFUSED',
      `a digest pins the image in ${at} to ${image.name}, so no other image can be set there. Nothing was changed`,
      ['first remove the digest, or replace it with the digest of the new image'],
    )
  }
  const variable = image.tag === null ? null : variableOf(image.tag)
  const declared = variable
    ? (await files.variable(main, variable.name)) || (await files.variable(file, variable.name)) || variable.otherwise
    : image.tag
  const buildRisk = judgeBuild(
    asked,
    { text: declared, isText: true },
    variable ? `.env next to ${main} (${variable.name})` : at,
  )
  const next: ImageText = { ...image, name: wantedName(asked), tag: tagOf(image, asked, declared, at) }
  const wanted = imageText(next) === text ? [] : [{ file, path, to: imageText(next) }]
  const draft: Draft = {
    target: { compose: main, ...(file !== main && { 'image in': file }), service: chosen },
    impact: editImpact(wanted),
    evidence: [
      `${at}: ${path.join('.')}: ${text}`,
      ...(variable ? [`${variable.name} is ${declared ?? 'not set'} in .env next to the compose file`] : []),
    ],
    notes:
      wanted.length === 0
        ? [`the image is already ${next.name}`]
        : [
            ...(asked.isApplied
              ? []
              : [
                  'the change takes effect when you run: ' +
                    typed(['docker', 'compose', '-f', main, 'up', '-d', chosen]),
                ]),
            ...(others.length > 0
              ? [
                  `the same line also sets the image of ${others.join(', ')}, so ` +
                    `${others.length === 1 ? 'that image changes' : 'those images change'} too`,
                ]
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
    throw new AdminError(
      'REFUSED',
      `the image tag in ${at} comes from a variable (${tag}), so --build cannot set it. Nothing was changed`,
      [sentence`set ${name}=${build} in .env next to the compose file, then run the command without --build`],
    )
  }
  return build
}
