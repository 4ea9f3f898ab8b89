import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { didYouMean } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'
import type { Environment } from '../paths.ts'
import { configHome } from '../paths.ts'
import { copyTemplate, fileName, nextAfterUnreadable, readTemplate } from './next-steps.ts'
import { readUpTo, whyUnreadable } from './read-file.ts'
import type { Settings } from './schema.ts'
import { schema } from './schema.ts'
import { validate } from './validate.ts'

const maxBytes = 1_000_000

export interface Configuration {
  /** absolute */
  file: string
  settings: Settings
}

export interface ConfigurationRequest {
  /** `--config` */
  file?: string | undefined
  environment: Environment
  workingDirectory: string
}

/**
 * Finds, reads and validates the configuration (DESIGN.md 5): the named file, else testops-admin.yaml here or in a parent
 * folder, else the one in the operator's configuration folder. Throws CONFIGURATION, with the file and the line.
 */
export async function loadConfiguration(request: ConfigurationRequest): Promise<Configuration> {
  const configuration = await findConfiguration(request)
  if (configuration) return configuration
  throw withoutConfiguration(request)
}

/** `looked`: what else was looked at in vain, for a deployment to be found; `next`: what to type about what could not be asked. */
export function withoutConfiguration({ workingDirectory, environment }: ConfigurationRequest, { looked, next }: { looked: readonly string[]; next: readonly string[] } = { looked: [], next: [] }): AdminError {
  const files = `no configuration found: no ${fileName} in ${workingDirectory} or above, no ${ownFile(environment)}`
  return new AdminError(
    'CONFIGURATION',
    looked.length === 0 ? files : `${files}; and no deployment: ${looked.join('; ')}`,
    [
      ...next,
      'testops-admin init   # finds one, asks for the rest, and writes it',
      copyTemplate(fileName),
      '--config FILE   # one that lies elsewhere',
      'testops-admin lab up   # a practice deployment, then use -d lab',
    ],
  )
}

/** As `loadConfiguration`, with null where there is none. A file that was named must be there. */
export async function findConfiguration(request: ConfigurationRequest): Promise<Configuration | null> {
  const { environment, workingDirectory } = request
  if (request.file !== undefined) return readConfiguration(resolve(workingDirectory, request.file), workingDirectory)
  for (const file of [...upwards(workingDirectory), ownFile(environment)]) {
    if (await exists(file)) return readConfiguration(file, workingDirectory)
  }
  return null
}

/** Reads and validates one file. Errors name it as seen from the working directory, and what to type next. */
export async function readConfiguration(file: string, workingDirectory: string): Promise<Configuration> {
  try {
    return await readAndValidate(file, workingDirectory)
  } catch (error) {
    if (!(error instanceof AdminError) || error.suggestions.length > 0) throw error
    throw new AdminError(error.code, error.message, [readTemplate()], { cause: error.cause })
  }
}

async function readAndValidate(file: string, workingDirectory: string): Promise<Configuration> {
  const shown = shownAs(file, workingDirectory)
  const document = parse(await readText(file, shown), shown)
  const at = (path: readonly (string | number)[]): string => {
    const depths = Array.from({ length: path.length + 1 }, (_, removed) => path.slice(0, path.length - removed))
    const position = depths.map((around) => document.positionOf(around)).find((found) => found !== null)
    return `${shown}:${position?.line ?? 1}`
  }
  const settings = validate(schema, document.value, { at, directory: dirname(file) })
  checkNames(settings, at)
  return { file, settings }
}

function checkNames(settings: Settings, at: (path: string[]) => string): void {
  const names = [...settings.deployments.keys()]
  if (names.length === 0) throw new AdminError('CONFIGURATION', `\`deployments\` at ${at(['deployments'])} names no deployment`)
  const { current } = settings
  if (current === undefined || names.includes(current)) return
  const hint = didYouMean(current, names)
  throw new AdminError(
    'CONFIGURATION',
    `\`current\` at ${at(['current'])} names \`${current}\`, which is no deployment${hint ? `; ${hint}` : ''}`,
    names.map((name) => `current: ${name}`),
  )
}

function parse(text: string, shown: string): ReturnType<typeof parseYaml> {
  const empty = text.split('\n').every((line) => /^\s*(#.*|---\s*)?$/.test(line))
  if (empty) throw new AdminError('CONFIGURATION', `${shown} is empty`)
  try {
    return parseYaml(text)
  } catch (error) {
    const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line : null
    const at = line === null ? shown : `${shown}:${line}`
    throw new AdminError('CONFIGURATION', `${at} is not valid YAML: ${messageOf(error)}`, linesAround(shown, line), { cause: error })
  }
}

function linesAround(shown: string, line: number | null): string[] {
  const lines = line === null ? [] : [`sed -n ${Math.max(1, line - 2)},${line + 1}p ${typed([shown])}   # the lines around it`]
  return [...lines, readTemplate()]
}

async function readText(file: string, shown: string): Promise<string> {
  try {
    const content = await readUpTo(file, maxBytes)
    if (content) return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    const message = `cannot read the configuration ${shown}: ${whyUnreadable(error)}`
    throw new AdminError('CONFIGURATION', message, await nextAfterUnreadable(error, file, shown), { cause: error })
  }
  throw new AdminError('CONFIGURATION', `${shown} is too large: a configuration has at most ${maxBytes} bytes`)
}

function ownFile(environment: Environment): string {
  return join(configHome(environment), 'config.yaml')
}

function upwards(folder: string): string[] {
  const parent = dirname(folder)
  return [join(folder, fileName), ...(parent === folder ? [] : upwards(parent))]
}

/** False only where it is sure: what is there but may not be read is an error to report, not a file to pass over. */
export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    const code = codeOf(error)
    return code !== null && code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}

function shownAs(file: string, workingDirectory: string): string {
  const path = relative(workingDirectory, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
