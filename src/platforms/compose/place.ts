import { dirname, join, resolve } from 'node:path'
import { composeFilesIn, extendedBy } from '../../adapters/compose-file.ts'
import type { ComposeFile, Included } from '../../adapters/compose-file.ts'
import { editListItem, editYaml, isEmptyYaml, YamlEditError } from '../../adapters/yaml/edit.ts'
import { YamlError, parseYaml } from '../../adapters/yaml/index.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import type { SettingChange } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { changedText, valueIn } from '../host/setting.ts'
import { dotenvsOf, isMap } from './project.ts'
import type { Project } from './project.ts'
import { asPath, command, sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { own } from '../../core/lookup.ts'

/** A file to write, and its new content. */
export interface Place {
  path: string
  from: Buffer | null
  to: Buffer
  kind: 'compose-file' | 'dotenv' | 'env-file'
  /** Included part that the file belongs to; null for the project itself */
  included: Included | null
}

interface Asked {
  change: SettingChange
  service: string
  project: Project
  /** This program's own; a variable in it overrides `.env` */
  environment: Readonly<Record<string, string | undefined>>
  read: (path: string) => Promise<{ path: string; bytes: Buffer | null }>
}

interface File extends Omit<ComposeFile, 'path'> {
  path: string
  bytes: Buffer
  text: string
  value: unknown
  /** Name of the service to look at, and its declaration in this file */
  name: string
  service: Record<string, unknown> | null
}

/** Finds where the setting has to be written. Throws REFUSED, with the reason, if no single place is certain. */
export async function placeOf(asked: Asked): Promise<Place> {
  const { change, service, project } = asked
  const { files: named, others } = await composeFilesIn(
    project.files,
    project.folder,
    async (path) => (await fileAt({ path, folder: '', included: null }, service, asked)).value,
  )
  const files = await Promise.all(named.map(async (it) => fileAt(it, service, asked)))
  const own = files.findLast((it) => rawOf(it, change.name) !== undefined)
  if (own) return placeOfRaw(own, rawOf(own, change.name) ?? null, asked)
  // a file that already has settings of the service, else the one that declares it
  const target =
    files.findLast((it) => it.service?.['environment'] != null) ?? files.findLast((it) => it.service !== null)
  if (!target)
    throw refused(
      change.name,
      `the service \`${service}\` is missing from ${project.files.join(', ')}` +
        `${others.length === 0 ? '' : `. These included files were not read: ${others.join(', ')}`}`,
    )
  return change.from === null ? inComposeFile(target, asked) : placeOfElsewhere(files, target, asked)
}

async function fileAt({ path, folder, included }: ComposeFile, name: string, { read }: Asked): Promise<File> {
  const { path: real, bytes } = await read(path)
  if (bytes === null)
    throw new AdminError('UNAVAILABLE', `the compose file ${path} is missing`, [command`ls -l ${asPath(path)}`])
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes))
    throw new AdminError('REFUSED', `${path} is not UTF-8 text`, [command`file ${asPath(path)}`])
  let value: unknown
  try {
    if (!isEmptyYaml(text)) parseYaml(text)
    value = parsedYaml(text).value
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new AdminError(
      'REFUSED',
      `${path}:${error.line} cannot be edited: ${error.message}`,
      [command`sed -n ${error.line}p ${asPath(path)}`],
      { cause: error },
    )
  }
  const service = own(servicesIn(value), name)
  return { path: real, folder, included, bytes, text, value, name, service: isMap(service) ? service : null }
}

/** Returns the services of a compose file's value by their names. */
export function servicesIn(value: unknown): Record<string, unknown> {
  return isMap(value) && isMap(value['services']) ? value['services'] : {}
}

/** Returns what the service extends, nearest first, as far as it is on this machine. */
async function basesOf(file: File, asked: Asked, seen: readonly string[] = []): Promise<File[]> {
  const extended = extendedBy(file.service, file.folder)
  const path = extended?.named == null ? file.path : extended.file
  if (extended === null || path === null) return []
  const id = JSON.stringify([path, extended.service])
  if (seen.includes(id)) return []
  const base = await fileAt(
    { path, folder: extended.named === null ? file.folder : dirname(path), included: file.included },
    extended.service,
    asked,
  )
  return [base, ...(await basesOf(base, asked, [...seen, id]))]
}

/** Returns the value as written, not interpolated; null for a name without value; undefined if missing. */
function rawOf({ service }: File, name: string): string | null | undefined {
  const environment = service?.['environment']
  if (Array.isArray(environment)) {
    const item = environment.map(String).findLast((it) => it === name || it.startsWith(`${name}=`))
    return item === undefined ? undefined : item === name ? null : item.slice(name.length + 1)
  }
  if (!isMap(environment) || !Object.hasOwn(environment, name)) return undefined
  const value = environment[name]
  return typeof value === 'string' ? value : value === null || value === undefined ? null : JSON.stringify(value)
}

function placeOfRaw(file: File, raw: string | null, asked: Asked): Promise<Place> | Place {
  const { name, to } = asked.change
  const variable = raw === null ? name : variableIn(raw)
  if (to === null || (raw !== null && !raw.replaceAll('$$', '').includes('$'))) return inComposeFile(file, asked)
  if (variable !== null) return inDotenv(variable, to, file, asked)
  throw refused(name, `its value in ${file.path} is an expression that testops-admin cannot change`)
}

/** Returns the variable that is the whole value, `${NAME}`, `${NAME:-default}` or `$NAME`; null if none is. */
function variableIn(raw: string): string | null {
  const [, braced, bare] = /^(?:\$\{([A-Za-z_]\w*)(?::?[-?][^}]*)?\}|\$([A-Za-z_]\w*))$/.exec(raw) ?? []
  return braced ?? bare ?? null
}

async function inDotenv(
  variable: string,
  to: string,
  { included }: File,
  { change: { name }, project, environment, read }: Asked,
): Promise<Place> {
  if (own(environment, variable) !== undefined)
    throw refused(name, `its value comes from \`${variable}\` in the environment of this shell`, [
      command`unset ${variable}`,
    ])
  const { path, bytes } = await read(project.environmentFiles.at(-1) ?? join(project.folder, '.env'))
  const isOwn = bytes !== null && valueIn(bytes, variable) !== null
  for (const file of isOwn || included === null ? [] : dotenvsOf(included)) {
    const other = await read(file)
    if (other.bytes !== null && valueIn(other.bytes, variable) !== null)
      throw refused(
        name,
        `its value comes from \`${variable}\` in ${other.path}: testops-admin does not change the variables of an ` +
          'included compose file',
      )
  }
  const next = changedDotenv(bytes ?? Buffer.alloc(0), variable, to)
  if (next === null)
    throw refused(
      name,
      `it has to be set as \`${variable}\` in ${path}, but this file ends with an unclosed quote or a backslash`,
    )
  return { path, from: bytes, to: next, kind: 'dotenv', included: null }
}

function inComposeFile(
  { path, bytes, text, included, service: section }: File,
  { change: { name, to }, service }: Asked,
): Place {
  const value = to?.replaceAll('$', '$$$$') ?? null
  try {
    const next = Array.isArray(section?.['environment'])
      ? editListItem(text, ['services', service, 'environment'], {
          prefix: `${name}=`,
          bare: name,
          to: value === null ? null : `${name}=${value}`,
        })
      : editYaml(text, [{ path: ['services', service, 'environment', name], to: value }])
    return { path, from: bytes, to: Buffer.from(next), kind: 'compose-file', included }
  } catch (error) {
    if (!(error instanceof YamlEditError)) throw error
    throw new AdminError(
      'REFUSED',
      `\`${name}\` cannot be set in ${path}:${error.line}: ${error.message}`,
      [command`sed -n ${error.line}p ${asPath(path)}`],
      { cause: error },
    )
  }
}

/** Finds the place of a setting that an `env_file` sets, or a service that this one extends. */
async function placeOfElsewhere(files: readonly File[], target: File, asked: Asked): Promise<Place> {
  const { change, read, service } = asked
  const { name, to } = change
  const bases = (await Promise.all(files.map(async (it) => basesOf(it, asked)))).flat()
  const base = bases.find((it) => rawOf(it, name) !== undefined)
  const raw = base && rawOf(base, name)
  const variable = raw === null ? name : variableIn(raw ?? '')
  if (base && variable !== null && to !== null) return inDotenv(variable, to, base, asked)

  const all = [...files, ...bases]
  const held = base
    ? []
    : await Promise.all([...new Set(all.flatMap((it) => envFilesOf(it.service, it.folder)))].map(read))
  const having = held.filter(({ bytes }) => bytes !== null && valueIn(bytes, name) !== null)
  const [one, ...others] = having
  if (others.length > 0) throw refused(name, `it is set in several files: ${having.map(({ path }) => path).join(', ')}`)
  if (one?.bytes) {
    const sharing = [
      ...new Set(
        files.flatMap((it) =>
          Object.entries(servicesIn(it.value)).flatMap(([other, its]) =>
            other !== service && envFilesOf(its, it.folder).includes(one.path) ? [other] : [],
          ),
        ),
      ),
    ]
    if (sharing.length > 0)
      throw refused(name, `other services also read ${one.path}: ${sharing.join(', ')}`, [
        sentence`set it under \`environment\` of service ${service}, where the value overrides the shared file`,
      ])
    // engines differ on quotes there, so only a value that needs none is certain
    if (to !== null && !/^[\w@%+=:,./-]*$/.test(to))
      throw refused(
        name,
        'the new value contains spaces, quotes or other special characters, and compose versions differ in how ' +
          `they read these in ${one.path}`,
      )
    // some engines read what follows a # as part of the value
    const isWhole = to === null || valueIn(one.bytes, name) === change.from
    const next = isWhole ? changedText(one.bytes, name, to) : changedDotenv(one.bytes, name, to)
    if (next !== null) return { path: one.path, from: one.bytes, to: next, kind: 'env-file', included: null }
  }
  // the service's own section overrides all that it draws in
  if (to !== null) return inComposeFile(target, asked)
  const origin = base
    ? `service \`${base.name}\` in ${base.path}, which service \`${service}\` extends`
    : `a file that ${target.path} includes`
  throw refused(name, `its value comes from ${origin}, so testops-admin can change the value, but cannot remove it`)
}

function envFilesOf(service: unknown, folder: string): string[] {
  const all: unknown[] = isMap(service) ? [service['env_file']].flat() : []
  return all
    .flatMap((it) => (typeof it === 'string' ? [it] : isMap(it) && typeof it['path'] === 'string' ? [it['path']] : []))
    .map((path) => resolve(folder, path))
}

function refused(
  name: string,
  why: string,
  next: readonly Suggestion[] = ['change the setting by hand, in one place only'],
): AdminError {
  return new AdminError('REFUSED', `\`${name}\` cannot be set: ${why}`, next)
}

/**
 * Sets one variable in a compose project's file of variables. Compose, unlike systemd, reads a # after a blank as the
 * start of a comment (compose-spec, 12-interpolation.md); the comment stays. Null if the variable cannot be set, as
 * after an unclosed quote.
 */
export function changedDotenv(file: Buffer, name: string, to: string): Buffer | null {
  const next = changedText(file, name, to)
  const line = new RegExp(
    `^[ \\t]*${name}[ \\t]*=(?:[ \\t]*(?:"(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*')|[^"'\\n]*?)?` +
      '((?<![ \\t])[ \\t]+#[^\\r\\n]*)?\\r?$',
    'gm',
  )
  // one character per byte
  const comment = [...file.toString('latin1').matchAll(line)].at(-1)?.[1]
  if (next === null || comment === undefined) return next
  const text = next.toString('latin1')
  const end = [...text.matchAll(new RegExp(`^[ \\t]*${name}[ \\t]*=[^\\r\\n]*`, 'gm'))].at(-1)
  return end
    ? Buffer.from(
        `${text.slice(0, end.index + end[0].length)}${comment}${text.slice(end.index + end[0].length)}`,
        'latin1',
      )
    : next
}
