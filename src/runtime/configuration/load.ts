import { readdir } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { readJudged, whyUnreadable } from '../../adapters/read-file.ts'
import { distrusted, isTrusted, trustedByName } from '../../adapters/trust/assert.ts'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { isRecord } from '../../adapters/http.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { closestNames, didYouMean, nearestNames } from '../../core/nearest.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { asPath, command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { Environment } from '../paths.ts'
import type { ConfigurationRequest } from './find.ts'
import { configurationFile, fileName, ownFile, shownAs } from './find.ts'
import { assertKeysCount, assertOwnChecks, schema } from './schema.ts'
import type { DeploymentSettings, Settings } from './schema.ts'
import { validate } from './validate.ts'

/** Returns how to read the commented template, which comes with this package. */
function readTemplate(): ShellCommand {
  return command`testops-admin init --template configuration   # prints it: every key, with an example`
}

/** Returns how to begin a configuration at `to`. */
function copyTemplate(to: string): ShellCommand {
  return command`testops-admin init --template configuration > ${asPath(to)}   # to fill in`
}

/** Returns what to type if a named file cannot be read. `shown`: its path as errors name it. */
async function nextAfterUnreadable(error: unknown, file: string, shown: string): Promise<Suggestion[]> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return nextWithout(file, shown)
  if (code === 'EISDIR') {
    const inside = (await namesIn(file))?.filter((name) => name === fileName || name === 'config.yaml')
    return inside?.length
      ? inside.map((name) => config(join(shown, name)))
      : [command`ls -l ${asPath(shown)}`, readTemplate()]
  }
  return code === 'EACCES' ? [command`ls -l ${asPath(shown)}`] : []
}

async function nextWithout(file: string, shown: string): Promise<Suggestion[]> {
  const names = await namesIn(dirname(file))
  if (names === null) return [command`ls -ld ${asPath(dirname(shown))}`, readTemplate()]
  // compare names without extensions: what all have in common says nothing
  const known = new Map(names.filter((name) => /\.ya?ml$/.test(name)).map((name) => [parse(name).name, name]))
  const near = nearestNames(parse(file).name, known.keys()).map((stem) =>
    config(join(dirname(shown), known.get(stem)!)),
  )
  return [...near, copyTemplate(shown)]
}

/** A suggestion that begins with a flag is completed to a command where it is shown. */
function config(path: string): ShellCommand {
  return typed(['--config', path])
}

/** Lists the names in a folder; null if it is missing or may not be read. */
async function namesIn(folder: string): Promise<string[] | null> {
  const names = await readdir(folder).catch(() => null)
  return names && names.sort()
}

const maxBytes = 1_000_000

export interface Configuration {
  /** Absolute path */
  file: string
  settings: Settings
  /** Why `current` cannot be used: for commands that name no deployment */
  wrongCurrent?: AdminError
}

/**
 * Finds, reads and validates the configuration (DESIGN.md 5). It is the named file, otherwise testops-admin.yaml here
 * or in a parent folder, otherwise the one in the operator's configuration folder. Throws CONFIGURATION, with the file
 * and the line.
 */
export async function loadConfiguration(request: ConfigurationRequest): Promise<Configuration> {
  const configuration = await findConfiguration(request)
  if (configuration) return configuration
  throw withoutConfiguration(request)
}

/**
 * Returns the error for a missing configuration. `looked`: where else a deployment was looked for; `next`: what to type
 * about what could not be checked; `failure`: the error of a named place, reported first.
 */
export function withoutConfiguration(
  { workingDirectory, environment }: ConfigurationRequest,
  { looked, next, failure }: { looked: readonly string[]; next: readonly Suggestion[]; failure?: AdminError } = {
    looked: [],
    next: [],
  },
): AdminError {
  const files = `no configuration found: no ${fileName} in ${workingDirectory} or above, no ${ownFile(environment)}`
  const others = looked.filter((it) => it !== failure?.message)
  return new AdminError(
    failure?.code ?? 'CONFIGURATION',
    failure
      ? `${failure.message}; ${files}${others.length === 0 ? '' : `; no deployment found either: ${others.join('; ')}`}`
      : looked.length === 0
        ? files
        : `${files}; no deployment found either: ${looked.join('; ')}`,
    [
      ...next,
      'testops-admin init   # finds a deployment, asks for the rest, and writes a configuration',
      copyTemplate(fileName),
      '--config FILE   # reads the configuration from FILE',
      'testops-admin lab up   # starts a practice deployment; then use -d lab',
    ],
  )
}

/** Does the same as `loadConfiguration`, but returns null if there is none. A named file must exist. */
export async function findConfiguration(request: ConfigurationRequest): Promise<Configuration | null> {
  const { environment, workingDirectory } = request
  const file = await configurationFile(request)
  return file === null ? null : readConfiguration(file, { environment, workingDirectory, config: request.file })
}

interface Around {
  environment: Environment
  workingDirectory: string
  /** `--config`, for commands that are suggested */
  config?: string | undefined
}

/**
 * Reads and validates one file, after checking that only this user and root can have written it, because it may name
 * commands. Errors show it relative to the working directory, and say what to type next.
 */
export async function readConfiguration(file: string, around: Around): Promise<Configuration> {
  try {
    return await readAndValidate(file, around)
  } catch (error) {
    if (!(error instanceof AdminError) || error.suggestions.length > 0) throw error
    throw new AdminError(error.code, error.message, [readTemplate()], { cause: error.cause })
  }
}

async function readAndValidate(file: string, around: Around): Promise<Configuration> {
  const { value, at } = await readDocument(file, around)
  const settings = settingsIn(value, { at, directory: dirname(file) })
  const wrongCurrent = wrongCurrentIn(settings, at, around.config)
  return { file, settings, ...(wrongCurrent && { wrongCurrent }) }
}

interface Read {
  value: unknown
  /** Returns the place of the value at this path, or of the nearest one around it */
  at: (path: readonly (string | number)[]) => string
}

async function readDocument(file: string, { environment, workingDirectory }: Around): Promise<Read> {
  const shown = shownAs(file, workingDirectory)
  const document = parseConfiguration(await readText(file, shown, environment), shown)
  return {
    value: document.value,
    at(path) {
      const depths = Array.from({ length: path.length + 1 }, (_, removed) => path.slice(0, path.length - removed))
      const position = depths.map((around) => document.positionOf(around)).find((found) => found !== null)
      return `${shown}:${position?.line ?? 1}`
    },
  }
}

function settingsIn(value: unknown, place: Pick<Read, 'at'> & { directory: string }): Settings {
  const settings = validate(schema, value, place)
  assertNamesAny(settings, place.at)
  for (const [name, deployment] of settings.deployments) {
    assertKeysCount(name, deployment, place.at)
    assertOwnChecks(name, deployment, place.at)
  }
  return settings
}

/** A configuration in which some deployments may be wrong. */
export interface EveryDeployment {
  /** Absolute path */
  file: string
  current: string | undefined
  /** In the file's order; an AdminError for one that is wrong */
  deployments: ReadonlyMap<string, DeploymentSettings | AdminError>
}

/**
 * Reads a configuration deployment by deployment, so that a wrong one leaves the others usable; null if there is none.
 * Throws CONFIGURATION if the file is wrong as a whole.
 */
export async function everyDeployment(request: ConfigurationRequest): Promise<EveryDeployment | null> {
  const file = await configurationFile(request)
  if (file === null) return null
  const { value, at } = await readDocument(file, request)
  const place = { at, directory: dirname(file) }
  const all = isRecord(value) && isRecord(value['deployments']) ? value['deployments'] : null
  // wrong as a whole: as for any other command
  if (!isRecord(value) || all === null || Object.keys(all).length === 0)
    return entriesOf(file, settingsIn(value, place))
  validate(schema, { ...value, deployments: {} }, place)
  const { current, ...rest } = value
  const one = (name: string): DeploymentSettings | AdminError => {
    try {
      return settingsIn({ ...rest, deployments: { [name]: all[name] } }, place).deployments.get(name)!
    } catch (error) {
      if (error instanceof AdminError) return error
      throw error
    }
  }
  const deployments = new Map(Object.keys(all).map((name) => [name, one(name)]))
  return { file, current: typeof current === 'string' ? current : undefined, deployments }
}

function entriesOf(file: string, { current, deployments }: Settings): EveryDeployment {
  return { file, current, deployments }
}

function assertNamesAny({ deployments }: Settings, at: (path: string[]) => string): void {
  if (deployments.size === 0)
    throw new AdminError('CONFIGURATION', `\`deployments\` at ${at(['deployments'])} names no deployment`)
}

/** Returns the command that makes a deployment the current one. `config`: as `--config` names the file. */
export function using(name: string, config: string | undefined): ShellCommand {
  return typed(['testops-admin', 'use', name, ...(config === undefined ? [] : ['--config', config])])
}

/** Returns the error for a `current` that names none: what is named with -d can still be used. */
function wrongCurrentIn(
  { current, deployments }: Settings,
  at: (path: string[]) => string,
  config: string | undefined,
): AdminError | null {
  if (current === undefined || deployments.has(current)) return null
  const names = [...deployments.keys()]
  const hint = didYouMean(current, names)
  const near = closestNames(current, names)
  return new AdminError(
    'CONFIGURATION',
    `\`current\` at ${at(['current'])} names \`${current}\`, which is not in \`deployments\`${hint ? `; ${hint}` : ''}`,
    (near.length > 0 ? near : names).map((name) => using(name, config)),
  )
}

function parseConfiguration(text: string, shown: string): ReturnType<typeof parseYaml> {
  const empty = text.split('\n').every((line) => /^\s*(#.*|---\s*)?$/.test(line))
  if (empty) throw new AdminError('CONFIGURATION', `${shown} is empty`)
  try {
    return parseYaml(text)
  } catch (error) {
    const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line : null
    const at = line === null ? shown : `${shown}:${line}`
    throw new AdminError('CONFIGURATION', `${at} is not valid YAML: ${messageOf(error)}`, linesAround(shown, line), {
      cause: error,
    })
  }
}

function linesAround(shown: string, line: number | null): Suggestion[] {
  const lines =
    line === null
      ? []
      : [command`sed -n ${Math.max(1, line - 2)},${line + 1}p ${asPath(shown)}   # shows the lines around the error`]
  return [...lines, readTemplate()]
}

async function readText(file: string, shown: string, environment: Environment): Promise<string> {
  const byName = await trustedByName(environment)
  try {
    const content = await readJudged(file, maxBytes, (judgement) => {
      if (!isTrusted(judgement, byName)) throw distrusted('the configuration', shown, file, judgement, environment)
    })
    if (content) return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    if (error instanceof AdminError) throw error
    const message = `cannot read the configuration ${shown}: ${whyUnreadable(error)}`
    throw new AdminError('CONFIGURATION', message, await nextAfterUnreadable(error, file, shown), { cause: error })
  }
  throw new AdminError('CONFIGURATION', `${shown} is too large: a configuration may have at most ${maxBytes} bytes`)
}
