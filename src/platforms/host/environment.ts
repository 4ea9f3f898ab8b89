import { dirname } from 'node:path'
import { plainFile } from '../../adapters/open-file.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { asPath, command, sentence } from '../../core/shell-command.ts'
import { isSecretSetting } from '../../knowledge/settings.ts'
import type { EnvironmentFile, HostSettings, ServiceManager } from './manager.ts'

/** One assignment of a file, and where it stands in the text. */
interface Assignment {
  name: string
  value: string
  /** Offset of its first line; `end` is behind its last line, the line's end included */
  start: number
  /** Offset behind its `=` */
  valueStart: number
  end: number
}

/**
 * Reads an environment file as systemd does (systemd.exec(5), EnvironmentFile=): `NAME=value` lines, comments with # or
 * ;, quotes, and a backslash that continues a line. A later assignment of a name overrides an earlier one. Ignores
 * lines that assign nothing.
 */
export function parseEnvironmentFile(text: string): Map<string, string> {
  return new Map(assignmentsIn(text).map(({ name, value }) => [name, value]))
}

/** Lists all assignments in order, including several of one name. */
export function assignmentsIn(text: string): Assignment[] {
  const assignments: Assignment[] = []
  const characters = new Characters(text)
  while (!characters.atEnd) {
    const start = characters.position
    const name = characters.takeWhile((it) => it !== '=' && it !== '\n').trim()
    const isComment = name.startsWith('#') || name.startsWith(';')
    if (characters.take() !== '=') continue
    if (isComment) {
      characters.takeWhile((it) => it !== '\n')
      continue
    }
    const valueStart = characters.position
    const value = readValue(characters)
    if (/^[A-Za-z_]\w*$/.test(name)) assignments.push({ name, value, start, valueStart, end: characters.position })
  }
  return assignments
}

/** Reads quoted parts, and skips blanks between them; from the first bare character on, quotes are plain characters. */
function readValue(characters: Characters): string {
  let value = ''
  while (!characters.atEnd) {
    const next = characters.take()
    if (next === '\n') return value
    if (next === "'") value += readSingleQuoted(characters)
    else if (next === '"') value += readDoubleQuoted(characters)
    else if (!/\s/.test(next)) return value + readBare(characters, next)
  }
  return value
}

function readSingleQuoted(characters: Characters): string {
  const quoted = characters.takeWhile((it) => it !== "'")
  characters.take()
  return quoted
}

function readDoubleQuoted(characters: Characters): string {
  let value = ''
  while (!characters.atEnd) {
    const next = characters.take()
    if (next === '"') return value
    if (next !== '\\') {
      value += next
      continue
    }
    const escaped = characters.take()
    if (escaped !== '\n') value += '"\\`$'.includes(escaped) ? escaped : `\\${escaped}`
  }
  return value
}

/** Reads up to the end of the line; drops blanks before that end unless they are escaped. */
function readBare(characters: Characters, first: string): string {
  let value = ''
  let kept = 0
  for (let next = first; next !== '' && next !== '\n'; next = characters.take()) {
    const character = next === '\\' ? characters.take().replace('\n', '') : next
    value += character
    if (next === '\\' || !/\s/.test(next)) kept = value.length
  }
  return value.slice(0, kept)
}

/** A text that is read once from start to end; CR LF at the end of a line counts as one character. */
class Characters {
  #next = 0

  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    return this.#next >= this.text.length
  }

  get position(): number {
    return this.#next
  }

  /** Returns the next character; '' at the end */
  take(): string {
    const taken = this.#peek()
    this.#next += taken === '\n' && this.text.charAt(this.#next) === '\r' ? 2 : 1
    return taken
  }

  takeWhile(wanted: (character: string) => boolean): string {
    let taken = ''
    while (!this.atEnd && wanted(this.#peek())) taken += this.take()
    return taken
  }

  #peek(): string {
    return this.text.startsWith('\r\n', this.#next) ? '\n' : this.text.charAt(this.#next)
  }
}

/**
 * Reads the settings that the service is started with: what the unit sets, then the environment files in order. The
 * file that the configuration names replaces the unit's own. Throws FORBIDDEN, UNAVAILABLE, NOT_CONFIGURED.
 */
export async function readEnvironment(
  manager: ServiceManager | null,
  configured: HostSettings['environmentFile'],
): Promise<ReadonlyMap<string, string | Secret>> {
  const declared = (await manager?.environment()) ?? { variables: new Map<string, string>(), files: [] }
  const files: readonly SettingsFile[] = configured === null ? declared.files : [{ ...configured, optional: false }]
  if (files.length === 0 && declared.variables.size === 0) {
    throw new AdminError('NOT_CONFIGURED', "the service's settings are unknown: set `host.environmentFile`")
  }
  const contents = await Promise.all(files.map(async (it) => parseEnvironmentFile(await textOf(it))))
  const all = new Map([declared.variables, ...contents].flatMap((variables) => [...variables]))
  return new Map([...all].map(([name, value]) => [name, isSecretSetting(name, value) ? new Secret(value) : value]))
}

/** A file that the unit reads, or that the configuration names; `at`: where the configuration names it. */
export type SettingsFile = EnvironmentFile & { at?: string }

async function textOf(file: SettingsFile): Promise<string> {
  return (await bytesOf(file))?.toString('utf8') ?? ''
}

/** Maximum bytes of a settings file; people write smaller ones */
const mostBytes = 1_000_000

/** Returns the file's bytes; null if it is optional and missing. Throws FORBIDDEN, UNAVAILABLE. */
export async function bytesOf({ path, optional, at }: SettingsFile): Promise<Buffer | null> {
  try {
    return await plainFile(path, mostBytes)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' && optional) return null
    const options = { cause: error }
    const what = `the service's settings in ${path}${at === undefined ? '' : ` (\`host.environmentFile\` at ${at})`}`
    if (code === 'EACCES')
      throw new AdminError(
        'FORBIDDEN',
        `this user cannot read ${what}`,
        [command`ls -l ${asPath(path)}`, 'run the same command with sudo'],
        options,
      )
    const isMissing = code === 'ENOENT'
    const reason = isMissing ? 'the file is missing' : messageOf(error)
    const next = [
      command`ls -l ${isMissing ? dirname(path) : path}`,
      ...(at === undefined ? [] : [sentence`correct \`host.environmentFile\` at ${at}`]),
    ]
    throw new AdminError('UNAVAILABLE', `${what} cannot be read: ${reason}`, next, options)
  }
}
