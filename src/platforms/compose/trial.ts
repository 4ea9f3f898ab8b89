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

/** What is included is a project of its own, but for its name, and for variables that the whole sets. */
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
 * Asks the compose program about a project as it would be with that file; null where the file can only be tried in its
 * place. Nothing is written into the files.
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
  // from there, relative files are the project's; docker-compose 1 takes it for one file alone
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
 * Such files are meant from where the one is that names them; docker-compose 1 crashes where that is standard input.
 */
export function extendsFiles(bytes: Buffer): boolean {
  const services = servicesIn(parsedYaml(bytes.toString('utf8')).value)
  return Object.values(services).some((service) => extendedBy(service, '')?.named != null)
}

/** Throws FORBIDDEN, UNAVAILABLE. */
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

/** docker-compose 1 looks for `.env` beside the first file, which may not be in its place. */
async function environmentFilesOf({ environmentFiles, folder }: Project): Promise<readonly string[]> {
  const usual = join(folder, '.env')
  return environmentFiles.length === 0 && (await isReadable(usual)) ? [usual] : environmentFiles
}
