import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { isEmptyYaml } from '../../adapters/yaml/edit.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { exists } from '../configuration/load.ts'
import { readUpTo, whyUnreadable } from '../configuration/read-file.ts'
import { validate } from '../configuration/validate.ts'
import { lintSchema } from './schema.ts'
import type { Level } from './schema.ts'

const fileName = '.testops-lint.yaml'
const maxBytes = 1_000_000

/** What a project says of how its results are judged. Files are absolute. */
export interface LintSettings {
  /** as errors name it */
  file: string
  rules: ReadonlyMap<RuleId, Level>
  maxWarnings?: number
  previous?: string
  agentLogs: readonly string[]
  changing: readonly string[]
}

export interface LintSettingsRequest {
  /** `--settings`; null: look for one */
  file: string | null
  directories: readonly string[]
  workingDirectory: string
  home: string | undefined
}

/**
 * The settings that are named, else those of the project that the directories lie in: `.testops-lint.yaml` in the directory or a
 * parent, up to the root of the repository, the home folder, or the file system's root; null where there is none. Throws
 * CONFIGURATION with the file and the line, USAGE where directories have different ones.
 */
export async function lintSettings({ file, directories, workingDirectory, home }: LintSettingsRequest): Promise<LintSettings | null> {
  if (file !== null) return read(resolve(workingDirectory, file), workingDirectory)
  const found = await Promise.all(directories.map(async (it) => settingsOf(resolve(workingDirectory, it), home)))
  const [first = null, ...others] = [...new Set(found)]
  if (others.length > 0) {
    const names = [first, ...others].map((it) => (it === null ? 'none' : shownAs(it, workingDirectory)))
    throw new AdminError('USAGE', `the directories have different settings: ${names.join(', ')}`, names.map((name) => typed(['--settings', name])))
  }
  return first === null ? null : read(first, workingDirectory)
}

async function settingsOf(folder: string, home: string | undefined): Promise<string | null> {
  const file = join(folder, fileName)
  if (await isThere(file)) return file
  const parent = dirname(folder)
  if (parent === folder || folder === home || (await isThere(join(folder, '.git')))) return null
  return settingsOf(parent, home)
}

/** What cannot be read is there, but nothing is in a folder that is not for this user: what lists it says so. */
async function isThere(file: string): Promise<boolean> {
  return (await exists(file)) && stat(file).then(() => true, (error: unknown) => codeOf(error) !== 'EACCES')
}

async function read(file: string, workingDirectory: string): Promise<LintSettings> {
  const shown = shownAs(file, workingDirectory)
  const text = await textOf(file, shown)
  if (isEmptyYaml(text)) return { file: shown, rules: new Map(), agentLogs: [], changing: [] }
  const document = parsed(text, shown)
  const at = (path: readonly (string | number)[]): string => {
    const depths = Array.from({ length: path.length + 1 }, (_, removed) => path.slice(0, path.length - removed))
    const position = depths.map((around) => document.positionOf(around)).find((found) => found !== null)
    return `${shown}:${position?.line ?? 1}`
  }
  const said = validate(lintSchema, document.value, { at, directory: dirname(file) })
  return {
    file: shown,
    // names that are no rule have been refused
    rules: (said.rules ?? new Map()) as ReadonlyMap<RuleId, Level>,
    ...(said['max-warnings'] !== undefined && { maxWarnings: said['max-warnings'] }),
    ...(said.previous && { previous: said.previous.path }),
    agentLogs: said['agent-log']?.map(({ path }) => path) ?? [],
    changing: said.changing ?? [],
  }
}

function parsed(text: string, shown: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text)
  } catch (error) {
    const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line : 1
    const look = `sed -n ${Math.max(1, line - 2)},${line + 1}p ${typed([shown])}   # the lines around it`
    throw new AdminError('CONFIGURATION', `${shown}:${line} is not valid YAML: ${messageOf(error)}`, [look], { cause: error })
  }
}

async function textOf(file: string, shown: string): Promise<string> {
  try {
    const content = await readUpTo(file, maxBytes)
    if (content) return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    throw new AdminError('CONFIGURATION', `cannot read the settings ${shown}: ${whyUnreadable(error)}`, [typed(['ls', '-l', shown]), '--settings none   # judge without any'], { cause: error })
  }
  throw new AdminError('CONFIGURATION', `${shown} is too large: settings have at most ${maxBytes} bytes`, ['--settings FILE   # another one'])
}

function shownAs(file: string, workingDirectory: string): string {
  const path = relative(workingDirectory, file)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path
}
