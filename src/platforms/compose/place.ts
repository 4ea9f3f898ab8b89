import { join, resolve } from 'node:path'
import { YamlEditError, editYaml } from '../../adapters/yaml/edit.ts'
import { YamlError, parseYaml } from '../../adapters/yaml/index.ts'
import { editListItem } from '../../adapters/yaml/list-items.ts'
import type { SettingChange } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { changedText, valueIn } from '../host/edit-setting.ts'
import { isMap } from './project.ts'
import type { Project } from './project.ts'

/** A file that has to be written, and with what. */
export interface Place {
  path: string
  from: Buffer | null
  to: Buffer
  kind: 'compose-file' | 'dotenv' | 'env-file'
}

interface Asked {
  change: SettingChange
  service: string
  project: Project
  /** of this program: a variable in it stands above `.env` */
  environment: Readonly<Record<string, string | undefined>>
  read: (path: string) => Promise<{ path: string; bytes: Buffer | null }>
}

interface File {
  path: string
  bytes: Buffer
  text: string
  service: Record<string, unknown> | null
}

/** Where the setting has to be written. Throws REFUSED with the reason where that is not one sure place. */
export async function placeOf(asked: Asked): Promise<Place> {
  const { change, service, project, read } = asked
  const files = await Promise.all(project.files.map(async (path) => fileAt(path, service, read)))
  const having = files.filter((it) => rawOf(it, change.name) !== undefined)
  const last = having.at(-1)
  if (last) return placeOfRaw(last, rawOf(last, change.name) ?? null, asked)
  if (change.from !== null) return placeOfElsewhere(files, asked)
  // a file that has settings of the service already, else the one that declares it
  const target = files.findLast((it) => it.service?.['environment'] != null) ?? files.findLast((it) => it.service !== null)
  if (target) return inComposeFile(target, asked)
  throw refused(change.name, `none of ${project.files.join(', ')} declares the service ${service}`)
}

async function fileAt(path: string, service: string, read: Asked['read']): Promise<File> {
  const { path: real, bytes } = await read(path)
  if (bytes === null) throw new AdminError('UNAVAILABLE', `there is no compose file ${path}`, [`ls -l ${path}`])
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes)) throw new AdminError('REFUSED', `${path} is not UTF-8 text`, [`file ${path}`])
  try {
    const { value } = parseYaml(text)
    const services = isMap(value) && isMap(value['services']) ? value['services'] : {}
    return { path: real, bytes, text, service: isMap(services[service]) ? services[service] : null }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new AdminError('REFUSED', `${path}:${error.line} cannot be edited: ${error.message}`, [`sed -n ${error.line}p ${path}`], { cause: error })
  }
}

/** As it stands in the file, not interpolated; null: a name alone; undefined: it is not there. */
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
  if (variable !== null) return inDotenv(variable, asked)
  throw refused(name, `its value in ${file.path} is put together of several parts`)
}

/** The one variable that a value is: `${NAME}`, `${NAME:-default}`, `$NAME`. */
function variableIn(raw: string): string | null {
  const [, braced, bare] = /^(?:\$\{([A-Za-z_]\w*)(?::?[-?][^}]*)?\}|\$([A-Za-z_]\w*))$/.exec(raw) ?? []
  return braced ?? bare ?? null
}

async function inDotenv(variable: string, { change: { name, to }, project, environment, read }: Asked): Promise<Place> {
  if (environment[variable] !== undefined) throw refused(name, `it comes from ${variable}, which this shell sets itself`, [`unset ${variable}`])
  const { path, bytes } = await read(project.environmentFiles.at(-1) ?? join(project.folder, '.env'))
  const next = changedText(bytes ?? Buffer.alloc(0), variable, to)
  if (next === null) throw refused(name, `${variable} cannot be set in ${path}: a quote or a continued line is open at its end`)
  return { path, from: bytes, to: next, kind: 'dotenv' }
}

function inComposeFile({ path, bytes, text, service: section }: File, { change: { name, to }, service }: Asked): Place {
  const value = to?.replaceAll('$', '$$$$') ?? null
  try {
    const next = Array.isArray(section?.['environment'])
      ? editListItem(text, ['services', service, 'environment'], { prefix: `${name}=`, bare: name, to: value === null ? null : `${name}=${value}` })
      : editYaml(text, [{ path: ['services', service, 'environment', name], to: value }])
    return { path, from: bytes, to: Buffer.from(next), kind: 'compose-file' }
  } catch (error) {
    if (!(error instanceof YamlEditError)) throw error
    throw new AdminError('REFUSED', `${name} cannot be set in ${path}:${error.line}: ${error.message}`, [`sed -n ${error.line}p ${path}`], { cause: error })
  }
}

/** It is set, and in no environment section of these files: an `env_file` has it, or a file that is drawn in. */
async function placeOfElsewhere(files: readonly File[], { change: { name, to }, project, read }: Asked): Promise<Place> {
  const named = files.flatMap(({ service }) => envFilesIn(service?.['env_file'])).map((path) => resolve(project.folder, path))
  const held = await Promise.all(named.map(read))
  const having = held.filter(({ bytes }) => bytes !== null && valueIn(bytes, name) !== null)
  const [one, ...others] = having
  if (one?.bytes && others.length === 0) {
    // engines differ in what quotes mean there, so that only what needs none is sure
    if (to !== null && !/^[\w@%+=:,./-]*$/.test(to)) throw refused(name, `${one.path} has it, in which a value with blanks or quotes is read differently by different versions`)
    const next = changedText(one.bytes, name, to)
    if (next !== null) return { path: one.path, from: one.bytes, to: next, kind: 'env-file' }
  }
  if (others.length > 0) throw refused(name, `it is set in several files: ${having.map(({ path }) => path).join(', ')}`)
  const drawn = files.some(({ service }) => service?.['extends'] !== undefined) ? '`extends`' : 'another file (`include`, or an anchor)'
  throw refused(name, `its value comes through ${drawn}`)
}

function envFilesIn(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.flatMap((it) => (typeof it === 'string' ? [it] : isMap(it) && typeof it['path'] === 'string' ? [it['path']] : []))
}

function refused(name: string, why: string, next: readonly string[] = ['set it by hand, and leave it in one place']): AdminError {
  return new AdminError('REFUSED', `${name} cannot be set: ${why}`, next)
}
