import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { images } from '../../knowledge/images.ts'
import type { PlatformOptions } from '../platform.ts'
import { composeContainers } from './containers.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'
import { configured, isReadable, projectAt, projectOfFile } from './project.ts'
import type { Declared, Project } from './project.ts'
import type { ComposeSettings } from './settings.ts'
import { command, nested } from '../../core/shell-command.ts'

/** The service of a compose project that runs the product. */
export interface FoundService {
  project: string
  service: string
  /** As its containers name it, else its file */
  image: string
  /** Null if its files are not on this machine, or not readable */
  files: Project | null
  /** True if it has no container yet */
  isDeclaredOnly: boolean
}

/**
 * Finds all services that run one of the product's images, in containers and in the compose file of the folder.
 * `narrow` limits the search to a project, file or service.
 */
export async function findServices(
  engine: Engine,
  narrow: Pick<ComposeSettings, 'project' | 'file' | 'service' | 'folder'>,
  environment: PlatformOptions['environment'] = {},
): Promise<FoundService[]> {
  const [containers, here] = await Promise.all([
    composeContainers(engine, narrow.project),
    filesAt(narrow, environment),
  ])
  const own = distinct(containers.filter((it) => isMeant(it, narrow)).map(foundIn))
  const running = await Promise.all(
    own.map(async (it) => ({
      ...it,
      files: it.files && (await allReadable(it.files)) ? it.files : here !== null && narrow.file ? here : null,
    })),
  )
  if (here === null || running.some((it) => it.files?.files.some((file) => here.files.includes(file)))) return running
  const declared = await declaredAt(engine, here, narrow, running.length > 0)
  return [...running, ...declared.filter((it) => !running.some(({ project }) => project === it.project))]
}

async function filesAt(
  { file, folder, project }: Pick<ComposeSettings, 'file' | 'folder' | 'project'>,
  environment: NonNullable<PlatformOptions['environment']>,
): Promise<Project | null> {
  const found = file === null ? await projectAt(folder, environment) : projectOfFile(file.path)
  return found && (project === null ? found : { ...found, name: project })
}

/** Finds the services that the files declare. An invalid file that nobody named does not hide a running service. */
async function declaredAt(
  engine: Engine,
  here: Project,
  narrow: Pick<ComposeSettings, 'file' | 'service' | 'project'>,
  isOther: boolean,
): Promise<FoundService[]> {
  try {
    const isWanted = (it: Declared): boolean =>
      it.image !== null && (narrow.service === null ? isProduct(it.image) : it.name === narrow.service)
    const { name, services } = await configured(engine, here, { has: (it) => it.services.some(isWanted) })
    const files = { ...here, name }
    return services
      .filter(isWanted)
      .map((it) => ({ project: name, service: it.name, image: it.image ?? '', files, isDeclaredOnly: true }))
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED' && isOther && narrow.file === null) return []
    throw error
  }
}

function isMeant(it: Container, { service, file }: Pick<ComposeSettings, 'service' | 'file'>): boolean {
  if (file !== null && it.files.length > 0 && !it.files.includes(file.path)) return false
  return service === null ? isProduct(it.image) : it.service === service
}

/** Returns the last part of an image name, without registry, tag and digest. */
export function imageNameOf(image: string): string {
  return image.split('@')[0]!.split('/').at(-1)!.split(':')[0]!
}

function isProduct(image: string): boolean {
  return ([images.standard, images.legacy] as readonly string[]).includes(imageNameOf(image))
}

function foundIn({ project, service, image, files, folder, environmentFiles }: Container): FoundService {
  const known = files.length > 0 && folder !== null ? { name: project, files, folder, environmentFiles } : null
  return { project, service, image, files: known, isDeclaredOnly: false }
}

/** Removes duplicates: several containers of one service count once. */
function distinct(found: readonly FoundService[]): FoundService[] {
  return [...new Map(found.map((it) => [JSON.stringify([it.project, it.service]), it])).values()]
}

async function allReadable({ files, folder }: Project): Promise<boolean> {
  return (await Promise.all([...files, folder].map(isReadable))).every(Boolean)
}

/**
 * Returns the only service. Throws CONFIGURATION for several, with what to write, and UNAVAILABLE for none, with what
 * was searched.
 */
export function theOnly(found: readonly FoundService[], engine: Engine, settings: ComposeSettings): FoundService {
  const [first, ...others] = found
  if (first && others.length === 0) return first
  if (first) {
    const isOneProject = others.every(({ project }) => project === first.project)
    throw new AdminError(
      'CONFIGURATION',
      `several compose services run the product: ${found.map(inWords).join(', ')}`,
      found.map(
        ({ project, service }) =>
          command`compose: {project: ${project}${nested(isOneProject ? command`, service: ${service}` : '')}}   # in the configuration`,
      ),
    )
  }
  const { project, service, file, folder } = settings
  const wanted = service === null ? `the image ${images.standard} or ${images.legacy}` : `the name ${service}`
  const where = project === null ? 'no compose project' : `the compose project ${project}`
  const looked = file === null ? `no compose file in ${folder} or above has one` : `${file.path} (${file.at}) has none`
  throw new AdminError(
    'UNAVAILABLE',
    `${where} has ${project === null ? 'a' : 'no'} service with ${wanted} among the containers of ${engine.program}, and ${looked}`,
    [typed([engine.program, 'ps', '--all', '--filter', 'label=com.docker.compose.project'])],
  )
}

function inWords({ project, service, image }: FoundService): string {
  return `service ${service} of project ${project} (${image})`
}
