import { AdminError } from '../../core/error.ts'
import { closestTo, nearestNames } from '../../core/nearest.ts'
import type { FilesSource, ValueLook } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { images } from '../../knowledge/images.ts'
import type { Asked } from './build.ts'
import { built } from './built.ts'
import { parseImage } from './image-name.ts'

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
export interface ComposeService extends Pick<Seen, 'name' | 'file' | 'of'> {
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
export async function composeService(
  files: FilesSource,
  file: string,
  name: string | null,
  asked: Asked,
): Promise<ComposeService> {
  const { services, elsewhere } = await servicesOf(files, file)
  const unseen =
    elsewhere.length === 0 ? '' : `; files that it includes from elsewhere were not read: ${elsewhere.join(', ')}`
  const known = [...new Set(services.map((it) => it.name))]
  if (name !== null && !known.includes(name)) {
    const hint = known.length === 0 ? 'it has none' : closestTo(name, known)
    throw new AdminError(
      'USAGE',
      `there is no service ${name} in ${file}; ${hint}${unseen}`,
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
      `${file} ${what}${unseen}; nothing was changed`,
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
  const why =
    beyond === null ? 'has no image of its own' : `extends a service of ${beyond}, which is not on this machine`
  throw new AdminError('REFUSED', `service ${own.of} in ${at} ${why}: nothing was changed`, [
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
