import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { editedAt, notReplaced, replaceFile } from '../../adapters/replace-file.ts'
import { loadYaml, parseYaml, yaml12 } from '../../adapters/yaml/index.ts'
import { AdminError } from '../../core/error.ts'
import { closestNames } from '../../core/nearest.ts'
import { command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { labConfigurationFile } from '../paths.ts'
import { exists } from './find.ts'
import type { ConfigurationRequest } from './find.ts'
import { everyDeployment, readConfiguration, using, withoutConfiguration } from './load.ts'
import type { EveryDeployment } from './load.ts'
import { possiblePlatforms } from './schema.ts'
import { isOfLab, unknownDeployment } from './select.ts'
import type { DeploymentRequest } from './select.ts'

/** A deployment that a command can name. */
export interface KnownDeployment {
  name: string
  source: 'configuration' | 'found' | 'lab'
  /** A file, or what was found on this machine or from it, for people */
  where: string
  /** `host or kubernetes` if only the commands find out; null: the entry is wrong */
  platform: string | null
  /** True if a command without -d uses it, also by TESTOPS_ADMIN_DEPLOYMENT */
  current: boolean
  error?: AdminError
}

/** What says which deployment commands without -d use, and that name if none has it. */
interface ChosenDeployment {
  chosenBy?: 'TESTOPS_ADMIN_DEPLOYMENT' | 'current'
  missing?: string
}

/**
 * Lists the deployments that commands find here, and what says which of them is used without -d. `isSearching`: also
 * without a configuration. Throws CONFIGURATION if the file is wrong as a whole, or there is no deployment.
 */
export async function knownDeployments(
  request: DeploymentRequest,
  { isSearching = true } = {},
): Promise<{ deployments: KnownDeployment[] } & ChosenDeployment> {
  const every = await everyDeployment(request)
  const lab = await ofLab(request)
  const own = every ? configured(every) : isSearching ? await foundHere(request, lab.length > 0) : []
  const all = [...own, ...lab.filter(({ name }) => !own.some((it) => it.name === name))]
  const { TESTOPS_ADMIN_DEPLOYMENT: named = '' } = request.environment
  const chosen = named === '' ? every?.current : named
  if (chosen === undefined) return { deployments: all }
  const by = named === '' ? 'current' : 'TESTOPS_ADMIN_DEPLOYMENT'
  return {
    deployments: all.map((it) => ({ ...it, current: it.name === chosen && (by !== 'current' || own.includes(it)) })),
    chosenBy: by,
    ...(!(by === 'current' ? own : all).some(({ name }) => name === chosen) && { missing: chosen }),
  }
}

function configured({ file, deployments }: EveryDeployment): KnownDeployment[] {
  return [...deployments].map(([name, settings]) => ({
    name,
    source: 'configuration',
    where: file,
    platform: settings instanceof AdminError ? null : possiblePlatforms(settings).join(' or '),
    current: deployments.size === 1,
    ...(settings instanceof AdminError && { error: settings }),
  }))
}

/** Searches for deployments. Throws CONFIGURATION, with where it searched, if there is none and no other is known. */
async function foundHere(request: DeploymentRequest, isOtherKnown: boolean): Promise<KnownDeployment[]> {
  const { discover } = await import('../discover.ts')
  const discovery = await discover(request)
  const { found } = discovery
  if (found.length === 0 && !isOtherKnown) throw withoutConfiguration(request, discovery)
  return found.map(({ name, what, settings }) => ({
    name,
    source: 'found',
    where: what,
    platform: possiblePlatforms(settings).join(' or '),
    current: found.length === 1,
  }))
}

async function ofLab(request: ConfigurationRequest): Promise<KnownDeployment[]> {
  const file = labConfigurationFile(request.environment)
  if (!(await exists(file))) return []
  const { settings } = await readConfiguration(file, request)
  return [...settings.deployments].map(([name, it]) => ({
    name,
    source: 'lab',
    where: file,
    platform: possiblePlatforms(it).join(' or '),
    current: false,
  }))
}

/** What `use` did. */
export interface Used {
  /** Absolute path of the configuration */
  file: string
  before: string | null
  /** False if it was the current one already */
  isChanged: boolean
}

/**
 * Makes a deployment the current one: sets `current` in the configuration, and leaves every other byte. Throws USAGE
 * for an unknown name, CONFIGURATION if there is no configuration, REFUSED if the file has a form that is not edited
 * or somebody else has just changed it, and as `replaceFile`.
 */
export async function setCurrent(name: string, request: ConfigurationRequest): Promise<Used> {
  const every = await everyDeployment(request)
  const settings = every?.deployments.get(name)
  if (!settings && isOfLab(name)) throw ofLabAlone(name)
  if (!every) throw withoutConfiguration(request)
  if (settings instanceof AdminError) throw settings
  if (!settings) {
    const names = [...every.deployments.keys()]
    const { message } = unknownDeployment(name, names, every.file)
    throw new AdminError(
      'USAGE',
      message,
      closestNames(name, names).map((it) => using(it, request.file)),
    )
  }
  const { file, current: before = null } = every
  if (before === name) return { file, before, isChanged: false }
  const path = await editedAt(file).catch((error: unknown) => {
    throw error instanceof AdminError ? error : notReplaced(file, error)
  })
  const from = await readFile(path)
  const text = from.toString('utf8')
  const edited = withCurrent(text, name)
  if (edited === null) throw byHand(file, name)
  if (!(await replaceFile(path, { from, to: Buffer.from(edited) })))
    throw new AdminError('REFUSED', `${file} has just been changed by somebody else. Nothing was written`, [
      using(name, request.file),
    ])
  return { file, before, isChanged: true }
}

function ofLabAlone(name: string): AdminError {
  return new AdminError('USAGE', `\`${name}\` is the practice deployment, which no configuration can choose`, [
    typed(['export', `TESTOPS_ADMIN_DEPLOYMENT=${name}`]),
  ])
}

/**
 * Returns the text with that deployment as the current one; null if the text has a form that this does not edit. The
 * result is read again: nothing but `current` may differ.
 */
export function withCurrent(text: string, name: string): string | null {
  const { value, positionOf } = parseYaml(text)
  const lines = text.split('\n')
  const at = positionOf(['current'])
  // as the other lines end
  const end = lines[0]?.endsWith('\r') ? '\r' : ''
  const entries = [`current: ${name}`, `current: ${JSON.stringify(name)}`]
  const edits = entries.map((entry) => {
    if (at === null) {
      const before = positionOf(['deployments'])
      return before && [...lines.slice(0, before.line - 1), `${entry}${end}`, ...lines.slice(before.line - 1)]
    }
    const line = lines[at.line - 1] ?? ''
    const rest = restOf(line)
    return rest === null ? null : lines.map((it, index) => (index === at.line - 1 ? `${entry}${rest}` : it))
  })
  const wanted = { ...(value as object), current: name }
  const isWanted = (edited: string): boolean => {
    try {
      return isDeepStrictEqual(loadYaml(edited, yaml12), wanted)
    } catch {
      return false
    }
  }
  return edits.flatMap((it) => it?.join('\n') ?? []).find(isWanted) ?? null
}

/** Returns what follows the value of `current` on its line: a comment, the end of the line; null: another form. */
function restOf(line: string): string | null {
  const value = /^current[ \t]*:(.*)$/s.exec(line)?.[1]
  if (value === undefined) return null
  const comment = value.search(/[ \t]#|\r?$/)
  const plain = value.slice(0, comment)
  const spaces = plain.slice(plain.trimEnd().length).replace('\r', '')
  return /^(?:"[^"]*"|'[^']*'|[\w.-]*)$/.test(plain.trim()) ? `${spaces}${value.slice(comment)}` : null
}

function byHand(file: string, name: string): AdminError {
  return new AdminError(
    'REFUSED',
    `${file} has a form in which testops-admin cannot set \`current\`. Nothing was written`,
    [command`\${EDITOR:-vi} ${file}   # write current: ${name}`, typed(['export', `TESTOPS_ADMIN_DEPLOYMENT=${name}`])],
  )
}
