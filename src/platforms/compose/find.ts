import { AdminError } from '../../core/error.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { images } from '../../knowledge/images.ts'
import type { Finder, PlatformOptions } from '../platform.ts'
import type { Container } from './containers.ts'
import { composeContainers } from './containers.ts'
import type { Engine } from './engine.ts'
import { findEngine } from './engine.ts'
import type { Declared, Project } from './project.ts'
import { configured, isReadable, projectAt, projectOfFile } from './project.ts'

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
      `several compose services run the product: ${found.map(inWords).join(', ')}. Set the right one in the ` +
        'configuration',
      found.map(
        ({ project, service }) =>
          command`compose: {project: ${project}${nested(isOneProject ? command`, service: ${service}` : '')}}   # in the
            configuration`,
      ),
    )
  }
  const { project, service, file, folder } = settings
  const wanted =
    service === null ? `the image \`${images.standard}\` or \`${images.legacy}\`` : `the service name \`${service}\``
  const where = project === null ? '' : ` of compose project \`${project}\``
  const what = service === null ? 'this image' : 'this service'
  const looked =
    file === null
      ? `No compose file in ${folder} or a folder above it declares ${what}`
      : `The compose file ${file.path} (named at ${file.at}) does not declare ${what} either`
  throw new AdminError('UNAVAILABLE', `no ${engine.program} container${where} has ${wanted}. ${looked}`, [
    typed([engine.program, 'ps', '--all', '--filter', 'label=com.docker.compose.project']),
  ])
}

function inWords({ project, service, image }: FoundService): string {
  return `service \`${service}\` of project \`${project}\` (image \`${image}\`)`
}

/** Finds compose projects whose service runs the product, among containers and in the compose file of the folder. */
export const findComposeProjects: Finder = async ({ folder, ...options }) => {
  const engine = await findEngine(options)
  if (engine === null) return { found: [], looked: 'neither docker nor podman is installed' }
  const services = await findServices(engine, { project: null, service: null, file: null, folder }, options.environment)
  const projects = services.map(({ project }) => project)
  return {
    found: services.map(({ project, service, image, files, isDeclaredOnly }) => ({
      // the name tells several services of one project apart
      name: projects.indexOf(project) === projects.lastIndexOf(project) ? project : `${project}-${service}`,
      what:
        `compose project \`${project}\` (service ${service}, image ` +
        `${image}${isDeclaredOnly ? `, declared in ${files?.files.join(', ')}, no container yet` : ''})`,
      // one file cannot stand for several: they are found again from this folder
      place: {
        platform: 'compose',
        project,
        service,
        file: isDeclaredOnly && files?.files.length === 1 ? files.files[0]! : null,
      },
    })),
    looked:
      `no container of ${engine.program} has the image \`${images.standard}\` or \`${images.legacy}\`, and no ` +
      `compose file in ${folder} or a folder above it declares one of these images`,
  }
}

/** The service under Docker Compose, as the configuration describes it. What is left out is searched for. */
export interface ComposeSettings {
  project: string | null
  /** Absolute path, and where the configuration names it */
  file: { path: string; at: string } | null
  /** Name of the service in the file */
  service: string | null
  build: string | null
  /** File to read in place of the machine's own /proc/cpuinfo */
  cpuinfo: string | null
  /** Absolute path of the folder in which to look for a compose file */
  folder: string
}
