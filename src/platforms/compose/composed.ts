import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { ComposeFile, Included } from '../../adapters/compose-file.ts'
import { composeFilesIn, extendedBy } from '../../adapters/compose-file.ts'
import { assertReplaceable } from '../../adapters/replace-file.ts'
import { planEdits } from '../../adapters/settings-file/edits.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import { AdminError } from '../../core/error.ts'
import type { ComposedImage, EditedFile } from '../../core/sources.ts'
import type { Place } from './place.ts'
import { servicesIn } from './place.ts'
import type { Configured, Project } from './project.ts'
import { configured, declares, differences, dotenvsOf, isMap, isReadable, textOrNull, wordsOf } from './project.ts'
import type { View } from './view.ts'

/** Returns an included part as a project of its own, with the name and the variables of the whole. */
export async function partOf(whole: Project, included: Included): Promise<Project> {
  const dotenvs = [...new Set([...dotenvsOf(included), ...dotenvsOf(whole)])]
  const isHere = await Promise.all(dotenvs.map(isReadable))
  return {
    name: whole.name,
    files: included.files,
    folder: included.folder,
    environmentFiles: dotenvs.filter((_, index) => isHere[index]),
  }
}

/**
 * Asks the compose program about a project as if it had that file; null if the file can only be tried in its place.
 * Writes nothing into the project's files.
 */
export async function tried<T>(
  project: Project,
  { path, to, kind }: Pick<Place, 'path' | 'to' | 'kind'>,
  ask: (words: string[], input?: string) => Promise<T>,
): Promise<T | null> {
  if (kind === 'env-file') return null
  const inPlaceOf = async (file: string): Promise<string[]> => {
    const files = await Promise.all(project.files.map(async (it) => ((await realpath(it)) === path ? file : it)))
    return wordsOf(project, { files, environmentFiles: await environmentFilesOf(project) })
  }
  if (kind === 'compose-file' && extendsFiles(to)) return beside(path, to, async (file) => ask(await inPlaceOf(file)))
  // with standard input, relative paths are the project's; docker-compose 1 accepts it only as the one file
  if (kind === 'compose-file' && project.files.length === 1)
    return ask(wordsOf(project, { files: ['-'] }), to.toString('utf8'))
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  try {
    const file = join(folder, kind === 'dotenv' ? '.env' : basename(path))
    await writeFile(file, to, { mode: 0o600 })
    return await ask(
      kind === 'dotenv'
        ? wordsOf(project, { environmentFiles: [...project.environmentFiles.slice(0, -1), file] })
        : await inPlaceOf(file),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * True if a service extends one of another file. Such paths are relative to the file that names them; docker-compose 1
 * crashes if that is standard input.
 */
function extendsFiles(bytes: Buffer): boolean {
  const services = servicesIn(parsedYaml(bytes.toString('utf8')).value)
  return Object.values(services).some((service) => extendedBy(service, '')?.named != null)
}

/** Runs `work` on a temporary file beside the real one. Throws FORBIDDEN, UNAVAILABLE. */
async function beside<T>(path: string, bytes: Buffer, work: (file: string) => Promise<T>): Promise<T> {
  await assertReplaceable(path)
  const file = join(dirname(path), `.${basename(path)}.testops-admin.${randomBytes(4).toString('hex')}`)
  try {
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
    return await work(file)
  } finally {
    await rm(file, { force: true })
  }
}

/** Names `.env` itself: docker-compose 1 looks for it beside the first file, which may be a temporary one. */
async function environmentFilesOf({ environmentFiles, folder }: Project): Promise<readonly string[]> {
  const usual = join(folder, '.env')
  return environmentFiles.length === 0 && (await isReadable(usual)) ? [usual] : environmentFiles
}

/** Implements `ServiceSource.composed`. Writes no temporary file beside the compose files. */
export async function composedImage({ engine, found }: View, edited: EditedFile | null): Promise<ComposedImage> {
  const { files: project, service } = found
  if (project === null) {
    throw new AdminError(
      'NOT_CONFIGURED',
      `the compose files of project \`${found.project}\` are not on this machine, or this user cannot read them`,
      ['compose: {file: PATH}   # in the configuration'],
    )
  }
  const has = declares(service)
  const before = await configured(engine, project, { has })
  const now = imageIn(before, service)
  if (edited === null) return { ...now, now: now.image, then: now.image, others: [] }
  const { part, to } = await editedPart(project, edited)
  const untried: ComposedImage = { ...now, now: now.image, then: undefined, others: [] }
  if (part === null || extendsFiles(to)) return untried
  const was = part === project ? before : await configured(engine, part, { has })
  const after = await tried(part, { path: edited.file, to, kind: 'compose-file' }, async (words, input) =>
    configured(engine, part, { words, input, has }),
  )
  if (after === null) return untried
  const others = differences(was.value, after.value).filter((path) => path !== `services.${service}.image`)
  return { ...now, now: now.image, then: imageIn(after, service).image, others }
}

function imageIn(
  { value }: Configured,
  name: string,
): Pick<ComposedImage, 'platform' | 'isBuilt'> & { image: string | null } {
  const services = isMap(value) && isMap(value['services']) ? value['services'] : {}
  const service = Object.hasOwn(services, name) ? services[name] : {}
  const { image, platform, build } = isMap(service) ? service : {}
  return { image: textOrNull(image), platform: textOrNull(platform), isBuilt: build != null }
}

/**
 * Returns the file's new text, and the project or included part that has the file. The part is null if none has it, as
 * for a file that a service extends.
 */
async function editedPart(
  project: Project,
  { file, edits }: EditedFile,
): Promise<{ part: Project | null; to: Buffer }> {
  const to = Buffer.from(planEdits(file, await readFile(file, 'utf8'), edits).text)
  const { files } = await composeFilesIn(
    project.files,
    project.folder,
    async (path) => parsedYaml(await readFile(path, 'utf8')).value,
  )
  const places = await Promise.all(files.map(async (it) => ({ ...it, path: await realpath(it.path) })))
  const own: ComposeFile | undefined = places.find(({ path }) => path === file)
  return { part: own === undefined ? null : own.included === null ? project : await partOf(project, own.included), to }
}
