import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { inspect, partOfFile, unpackers } from '../../adapters/input/file.ts'
import type { Inspected } from '../../adapters/input/file.ts'
import { systemCode } from '../../adapters/failure.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import type { LogPart } from '../../core/sources.ts'
import { asPath, command } from '../../core/shell-command.ts'
import { readJudged, whyUnreadable } from '../../adapters/read-file.ts'
import { isTrusted, mendsOf, trustedByName, whyDistrusted } from '../../adapters/trust/assert.ts'
import type { Judgement } from '../../adapters/trust/judge.ts'
import { isEmptyYaml } from '../../adapters/yaml/edit.ts'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { didYouMean } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { ruleIds } from '../../knowledge/result-rules.ts'
import { exists } from '../configuration/find.ts'
import type { FileReference } from '../configuration/nodes.ts'
import { isDay } from '../../core/local-time.ts'
import { choice, file, list, named, oneOrMany, section, text, whole } from '../configuration/nodes.ts'
import { validate } from '../configuration/validate.ts'
import type { Environment } from '../paths.ts'

export { hasEnded, markOf } from '../../adapters/process-identity.ts'

/** How a rule may be judged. */
export const levels = ['off', 'warning', 'error'] as const
export type Level = (typeof levels)[number]

/** What the settings of `lint-results` may say. */
const lintSchema = section('settings of lint-results', {
  rules: named('how rules are judged', 'rules', choice('how the rule is judged', 'warning', levels), ruleProblem),
  'max-warnings': whole('exit with 1 if there are more warnings than this', '0'),
  previous: file('results directory of an earlier run, to compare with', 'build/previous-results'),
  'agent-log': oneOrMany(
    'logs of the agent that uploads the results',
    'agent.log',
    file('a log of the agent', 'agent.log'),
  ),
  ignore: list(
    'rules whose problems do not count for a while',
    '',
    section(
      'an ignored rule',
      {
        rule: text('name of the rule', 'long-field', ruleProblem),
        reason: text('why', 'the adapter is being replaced'),
        until: text('last day on which it is ignored, in UTC', '2027-01-31', (day) =>
          isDay(day) ? null : 'must be a day of the calendar, such as 2027-01-31',
        ),
      },
      { required: ['rule', 'reason', 'until'] },
    ),
  ),
  changing: list(
    'names of test parameters, and of entries of the environment files, whose values may differ between test runs',
    'started',
    text('a name', 'started'),
  ),
})

function ruleProblem(name: string): string | null {
  if ((ruleIds as readonly string[]).includes(name)) return null
  const hint = didYouMean(name, ruleIds)
  return `is an unknown rule; ${hint ?? `known rules: ${ruleIds.join(', ')}`}`
}

const fileName = '.testops-lint.yaml'
const maxBytes = 1_000_000

/** A project's settings for judging its results. Files are absolute. */
export interface LintSettings {
  /** The file as errors name it */
  file: string
  rules: ReadonlyMap<RuleId, Level>
  maxWarnings?: number
  previous?: string
  agentLogs: readonly string[]
  changing: readonly string[]
  ignore: readonly IgnoredRule[]
}

/** A rule whose problems do not count for a while. */
export interface IgnoredRule {
  rule: RuleId
  reason: string
  /** Last day, in UTC: 2027-01-31 */
  until: string
}

interface LintSettingsRequest {
  /** `--settings`; null to look for one */
  file: string | null
  directories: readonly string[]
  workingDirectory: string
  home: string | undefined
  environment?: Environment
}

/**
 * Reads the named settings, otherwise those of the project that the directories lie in: `.testops-lint.yaml` in the
 * directory or a parent, up to the root of the repository, the home folder, or the file system's root. Null if there
 * are none. Throws CONFIGURATION with the file and the line, USAGE if directories have different ones.
 */
export async function lintSettings({
  file,
  directories,
  workingDirectory,
  home,
  environment = {},
}: LintSettingsRequest): Promise<LintSettings | null> {
  if (file !== null) return read(resolve(workingDirectory, file), { workingDirectory, environment })
  const found = await Promise.all(directories.map(async (it) => settingsOf(resolve(workingDirectory, it), home)))
  const [first = null, ...others] = [...new Set(found)]
  if (others.length > 0) {
    const names = [first, ...others].map((it) => (it === null ? 'none' : shownAs(it, workingDirectory)))
    throw new AdminError(
      'USAGE',
      `the directories have different settings: ${names.join(', ')}`,
      names.map((name) => typed(['--settings', name])),
    )
  }
  if (first === null) return null
  await assertStaysInFolder(first, shownAs(first, workingDirectory))
  return read(first, { workingDirectory, environment })
}

async function settingsOf(folder: string, home: string | undefined): Promise<string | null> {
  const file = join(folder, fileName)
  if (await isThere(file)) return file
  const parent = dirname(folder)
  if (parent === folder || folder === home || (await isThere(join(folder, '.git')))) return null
  return settingsOf(parent, home)
}

/** True if a file exists. False in a folder that this user may not enter: whatever lists the folder reports that. */
async function isThere(file: string): Promise<boolean> {
  return (
    (await exists(file)) &&
    stat(file).then(
      () => true,
      (error: unknown) => codeOf(error) !== 'EACCES',
    )
  )
}

/**
 * Checks settings that are found, not named: they may be a link that came with the results. Throws CONFIGURATION if it
 * leads to another folder, so that such a file is never read or quoted.
 */
async function assertStaysInFolder(file: string, shown: string): Promise<void> {
  const [real, folder] = await Promise.all([file, dirname(file)].map(async (it) => realpath(it).catch(() => null)))
  // a broken link is reported when it is read
  if (real == null || folder == null) return
  const way = relative(folder, real)
  if (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`)) return
  throw new AdminError(
    'CONFIGURATION',
    `the settings file ${shown} is a symbolic link to a file outside its folder, so it was not read`,
    [command`--settings ${real}   # uses that file anyway`, '--settings none   # judge without settings'],
  )
}

async function read(
  file: string,
  { workingDirectory, environment }: { workingDirectory: string; environment: Environment },
): Promise<LintSettings> {
  const shown = shownAs(file, workingDirectory)
  const { text, judgement } = await textOf(file, shown)
  if (isEmptyYaml(text)) return { file: shown, rules: new Map(), agentLogs: [], changing: [], ignore: [] }
  const document = parsed(text, shown)
  const at = (path: readonly (string | number)[]): string => {
    const depths = Array.from({ length: path.length + 1 }, (_, removed) => path.slice(0, path.length - removed))
    const position = depths.map((around) => document.positionOf(around)).find((found) => found !== null)
    return `${shown}:${position?.line ?? 1}`
  }
  const said = validate(lintSchema, document.value, { at, directory: dirname(file) })
  if (judgement && !isTrusted(judgement, await trustedByName(environment))) {
    for (const named of [...(said.previous ? [said.previous] : []), ...(said['agent-log'] ?? [])])
      await assertWithin(dirname(file), named, judgement)
  }
  return {
    file: shown,
    // validation has refused unknown rules
    rules: (said.rules ?? new Map()) as ReadonlyMap<RuleId, Level>,
    ...(said['max-warnings'] !== undefined && { maxWarnings: said['max-warnings'] }),
    ...(said.previous && { previous: said.previous.path }),
    agentLogs: said['agent-log']?.map(({ path }) => path) ?? [],
    changing: said.changing ?? [],
    ignore: (said.ignore ?? []) as readonly IgnoredRule[],
  }
}

function parsed(text: string, shown: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text)
  } catch (error) {
    const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line : 1
    const look = command`sed -n ${Math.max(1, line - 2)},${line + 1}p ${shown}   # shows the lines around the error`
    throw new AdminError('CONFIGURATION', `${shown}:${line} is not valid YAML: ${messageOf(error)}`, [look], {
      cause: error,
    })
  }
}

/** Reads a file. `judgement` is null for a pipe of the caller's own. */
async function textOf(file: string, shown: string): Promise<{ text: string; judgement: Judgement | null }> {
  let judgement: Judgement | null = null
  try {
    const content = await readJudged(file, maxBytes, (judged) => void (judgement = judged))
    if (content) return { text: new TextDecoder('utf-8', { fatal: true }).decode(content), judgement }
  } catch (error) {
    throw new AdminError(
      'CONFIGURATION',
      `cannot read the settings ${shown}: ${whyUnreadable(error)}`,
      [typed(['ls', '-l', asPath(shown)]), '--settings none   # judge without settings'],
      { cause: error },
    )
  }
  throw new AdminError('CONFIGURATION', `${shown} is too large: settings may have at most ${maxBytes} bytes`, [
    '--settings FILE   # another file',
  ])
}

/**
 * Throws CONFIGURATION for a file outside the settings' folder. Settings name no commands, and a checkout of a build
 * server may be open to all: others may change how results are judged. But a report must not quote this user's other
 * files.
 */
async function assertWithin(folder: string, { path, at }: FileReference, { flaws }: Judgement): Promise<void> {
  const [place, around] = await Promise.all([realpath(path).catch(() => path), realpath(folder)])
  const way = relative(around, place)
  if (!way.startsWith('..') && !isAbsolute(way)) return
  throw new AdminError(
    'CONFIGURATION',
    `the settings at ${at} name a file outside their folder, which only trusted settings may do. These ` +
      `settings are not trusted: ${whyDistrusted(flaws)}`,
    [...mendsOf(flaws), '--settings none   # judge without settings'],
  )
}

function shownAs(file: string, workingDirectory: string): string {
  const path = relative(workingDirectory, file)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path
}

/**
 * Returns logs of agents by their names, packed or not. Throws USAGE for a folder or a missing file, FORBIDDEN, and
 * UNAVAILABLE for a compression that this program cannot unpack.
 */
export async function agentLogs(names: readonly string[]): Promise<LogPart[]> {
  const parts: LogPart[] = []
  for (const name of names) {
    const { kind, format } = await look(name)
    if (kind === 'folder') throw new AdminError('USAGE', `${name} is a folder, not the log of an agent`, [flag])
    const unpacker = unpackers[format]
    if (unpacker)
      throw new AdminError('UNAVAILABLE', `${name} is compressed with ${format}, which testops-admin cannot unpack`, [
        command`${unpacker} ${name} > agent.log`,
        'testops-admin lint-results DIR --agent-log agent.log',
      ])
    parts.push(partOfFile(name))
  }
  return parts
}

const flag = 'testops-admin lint-results DIR --agent-log FILE   # FILE is the output of the plugin or uploader'

async function look(name: string): Promise<Inspected> {
  try {
    return await inspect(name)
  } catch (error) {
    const code = error instanceof AdminError ? systemCode(error.cause) : null
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new AdminError('USAGE', `there is no file ${name}`, [flag], { cause: error })
    throw error
  }
}
