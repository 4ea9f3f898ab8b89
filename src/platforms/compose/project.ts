import { access, constants } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual, parseEnv } from 'node:util'
import { plainFile } from '../../adapters/open-file.ts'
import { mendsOf, whyDistrusted } from '../../adapters/trust/assert.ts'
import { judgePath } from '../../adapters/trust/judge.ts'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { own } from '../../core/lookup.ts'
import { command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { Engine } from './engine.ts'

/** A compose project by its files. */
export interface Project {
  /** Null if its files or its folder name it */
  name: string | null
  /** Absolute paths in order; a later file overrides an earlier one */
  files: readonly string[]
  /** Folder of its `.env`, and base of its relative paths */
  folder: string
  /** Files that are read in place of `.env` */
  environmentFiles: readonly string[]
}

/** A service as its files declare it, interpolated. */
export interface Declared {
  name: string
  image: string | null
  /** When its image is fetched again, as its files say; null if they do not */
  pullPolicy: string | null
  /** Variables by name; a value is null if it comes from the shell, which has none */
  environment: ReadonlyMap<string, string | null>
}

/** What `docker compose config` makes of the files. */
export interface Configured {
  /** Name of the project */
  name: string
  services: readonly Declared[]
  /** The whole answer, for comparison */
  value: unknown
}

/** Names of a compose file, preferred first, and of the files that override each (compose-spec, 03-compose-file.md). */
const fileNames = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'] as const
const overlays = (name: string): string[] =>
  ['.yaml', '.yml'].map((ending) => name.replace(/\.ya?ml$/, `.override${ending}`))

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Finds the project of a folder: the files that `COMPOSE_FILE` names, in this environment or in `.env`. Else it has the
 * compose file in this folder, or in the nearest one above. Null if there is none. Throws CONFIGURATION if others could
 * have written a file that nobody named: starting the service starts whatever that file says.
 */
export async function projectAt(folder: string, environment: Variables): Promise<Project | null> {
  if (environment['COMPOSE_FILE']) return namedProject(folder, environment)
  const project = (await namedProject(folder, environment)) ?? (await usualProject(folder))
  if (project) for (const file of [...project.files, ...dotenvsOf(project)]) assertOwn(file)
  return project
}

function assertOwn(file: string): void {
  const { place, flaws } = judgePath(file)
  if (place === null || flaws.length === 0) return
  throw new AdminError('CONFIGURATION', `the compose file ${file} is not trusted: ${whyDistrusted(flaws)}`, [
    ...mendsOf(flaws),
    command`export COMPOSE_FILE=${file}   # read the file first: its containers may run as root`,
  ])
}

/** Maximum bytes of a `.env`; people write smaller ones */
const mostBytes = 1_000_000

/** Reads `COMPOSE_FILE` (docs.docker.com, "Configure pre-defined environment variables in Docker Compose"). */
async function namedProject(folder: string, environment: Variables): Promise<Project | null> {
  const dotenv = join(folder, '.env')
  const { COMPOSE_FILE: named, COMPOSE_PATH_SEPARATOR: separator } = {
    ...parseEnv(await plainFile(dotenv, mostBytes).then(String, () => '')),
    ...environment,
  }
  const files = (named ?? '')
    .split(separator || ':')
    .filter(Boolean)
    .map((file) => resolve(folder, file))
  const [first] = files
  if (first === undefined) return null
  const own = dirname(first)
  return {
    name: null,
    files,
    folder: own,
    environmentFiles: own !== folder && (await isReadable(dotenv)) ? [dotenv] : [],
  }
}

async function usualProject(folder: string): Promise<Project | null> {
  for (const name of fileNames) {
    const file = join(folder, name)
    if (!(await isReadable(file))) continue
    const over = await firstReadable(overlays(name).map((it) => join(folder, it)))
    return { name: null, files: [file, ...over], folder, environmentFiles: [] }
  }
  const parent = dirname(folder)
  return parent === folder ? null : usualProject(parent)
}

/** Lists the files that give variables to a project or a part of it; a later one overrides an earlier one. */
export function dotenvsOf({
  environmentFiles,
  folder,
}: Pick<Project, 'environmentFiles' | 'folder'>): readonly string[] {
  return environmentFiles.length > 0 ? environmentFiles : [join(folder, '.env')]
}

/** Returns the project of a file that was named. */
export function projectOfFile(path: string): Project {
  const file = resolve(path)
  return { name: null, files: [file], folder: dirname(file), environmentFiles: [] }
}

async function firstReadable(files: readonly string[]): Promise<string[]> {
  for (const file of files) if (await isReadable(file)) return [file]
  return []
}

export async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  )
}

/** Returns the flags that name a project to its compose program. `instead`: files in place of the project's own. */
export function wordsOf(
  { name, files, folder, environmentFiles }: Project,
  instead: { files?: readonly string[]; environmentFiles?: readonly string[] } = {},
): string[] {
  return [
    ...(name === null ? [] : ['--project-name', name]),
    '--project-directory',
    folder,
    ...(instead.environmentFiles ?? environmentFiles).flatMap((file) => ['--env-file', file]),
    ...(instead.files ?? files).flatMap((file) => ['--file', file]),
  ]
}

/** Returns a project's flags as an operator would type them. */
export function shortWordsOf({ name, files, folder, environmentFiles }: Project): string[] {
  return [
    ...(name === null ? [] : ['-p', name]),
    ...(folder === dirname(files[0] ?? folder) ? [] : ['--project-directory', folder]),
    ...environmentFiles.flatMap((file) => ['--env-file', file]),
    ...files.flatMap((file) => ['-f', file]),
  ]
}

/** How the compose program is called. */
interface Asked {
  words?: readonly string[]
  input?: string | undefined
  /** True if the answer has what is wanted; if not, services whose profile is not active are read too */
  has?: (it: Configured) => boolean
}

/**
 * Asks the compose program what a project's files declare. Throws UNEXPECTED_ANSWER if they are invalid, UNAVAILABLE.
 */
export async function configured(
  engine: Engine,
  project: Project,
  { words = wordsOf(project), input, has = () => true }: Asked = {},
): Promise<Configured> {
  const ask = async (allProfiles: boolean): Promise<Configured> => {
    const text = await engine.runCompose([...words, 'config'], {
      directory: project.folder,
      allProfiles,
      ...(input !== undefined && { input }),
    })
    const value = valueOf(text, engine)
    const services = isMap(value['services']) ? value['services'] : {}
    return {
      name: project.name ?? (typeof value['name'] === 'string' ? value['name'] : projectNameOf(project.folder)),
      services: Object.entries(services).map(([name, it]) => declaredIn(name, isMap(it) ? it : {})),
      value,
    }
  }
  const active = await ask(false)
  if (has(active)) return active
  // services that are not active may be invalid
  const all = await ask(true).catch((error: unknown) => {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return active
    throw error
  })
  return has(all) ? all : active
}

/** Returns a test that is true if the service is declared. */
export function declares(service: string): (it: Configured) => boolean {
  return ({ services }) => services.some(({ name }) => name === service)
}

function valueOf(text: string, { program }: Engine): Record<string, unknown> {
  try {
    const { value } = parseYaml(text)
    if (isMap(value)) return value
  } catch (error) {
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `\`${program} compose config\` did not print valid YAML: ${messageOf(error)}`,
      [typed([program, 'compose', 'config'])],
      { cause: error },
    )
  }
  throw new AdminError('UNEXPECTED_ANSWER', `\`${program} compose config\` printed no project`, [
    typed([program, 'compose', 'config']),
  ])
}

function declaredIn(name: string, service: Record<string, unknown>): Declared {
  const { image, environment, pull_policy: pullPolicy } = service
  return {
    name,
    image: textOrNull(image),
    pullPolicy: textOrNull(pullPolicy),
    environment: new Map(pairsIn(environment)),
  }
}

/** Reads a map, or a list of `NAME=value`; compose writes `$` twice, so that it is not interpolated again. */
export function pairsIn(environment: unknown): [string, string | null][] {
  if (Array.isArray(environment)) {
    return environment.map(String).map((it) => {
      const at = it.indexOf('=')
      return at < 0 ? [it, null] : [it.slice(0, at), plain(it.slice(at + 1))]
    })
  }
  if (!isMap(environment)) return []
  return Object.entries(environment).map(([name, value]) => [
    name,
    value === null || value === undefined ? null : plain(scalarOf(value)),
  ])
}

function scalarOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : JSON.stringify(value)
}

function plain(value: string): string {
  return value.replaceAll('$$', '$')
}

/** Returns the text; null if it is not text, or empty. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Derives a project's name from its folder as compose does if nothing else names it (compose-go,
 * loader.NormalizeProjectName).
 */
function projectNameOf(folder: string): string {
  return basename(folder)
    .toLowerCase()
    .replace(/[^-_a-z0-9]/g, '')
    .replace(/^[-_]+/, '')
}

/** Returns the paths of keys at which two values differ; never the values, which may be secret. */
export function differences(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(one, other)) return []
  if (!isMap(one) || !isMap(other)) return [path.join('.')]
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return keys.flatMap((key) => differences(own(one, key), own(other, key), [...path, key]))
}
