import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { extendedBy } from '../../adapters/compose-file.ts'
import type { Included } from '../../adapters/compose-file.ts'
import { assertReplaceable } from '../../adapters/replace-file.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import { servicesIn } from './place.ts'
import type { Place } from './place.ts'
import { dotenvsOf, isReadable, wordsOf } from './project.ts'
import type { Project } from './project.ts'

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
export function extendsFiles(bytes: Buffer): boolean {
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
