import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { extendedBy } from '../../adapters/compose-file.ts'
import type { Included } from '../../adapters/compose-file.ts'
import { editedAt } from '../../adapters/edited-at.ts'
import { assertReplaceable, replaceFile } from '../../adapters/replace-file.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import type { Compared, SettingChange } from '../../core/controls.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { differences } from './differences.ts'
import { isSameImage } from './pending.ts'
import { placeOf, servicesIn } from './place.ts'
import type { Place } from './place.ts'
import { configured, declares, dotenvsOf, isMap, isReadable, pairsIn, wordsOf } from './project.ts'
import type { Configured, Project } from './project.ts'
import type { View } from './view.ts'
import { asPath, command } from '../../core/shell-command.ts'

/**
 * Sets or removes one of the service's settings where its files have it: in the environment section of the compose file, or in `.env`
 * where the value comes from there. All else in the file stays as it is, byte for byte, and the compose program is asked before whether
 * the files then say what they said but for that setting. Throws REFUSED where they do not, or no one place is sure; NOT_CONFIGURED
 * where the files are not on this machine; USAGE, FORBIDDEN, UNAVAILABLE, UNEXPECTED_ANSWER.
 */
export async function writeSetting(view: View, change: SettingChange, environment: Readonly<Record<string, string | undefined>>): Promise<Compared> {
  const place = await placeFor(view, change, environment)
  if (typeof place === 'string') return place
  return (await replaceFile(place.path, place)) ? 'set' : 'changed'
}

/** What that would answer, or throw; nothing is written. */
export async function trySetting(view: View, change: SettingChange, environment: Readonly<Record<string, string | undefined>>): Promise<Compared> {
  const place = await placeFor(view, change, environment)
  if (typeof place === 'string') return place
  await assertReplaceable(place.path)
  return 'set'
}

async function placeFor(view: View, change: SettingChange, environment: Readonly<Record<string, string | undefined>>): Promise<Place | Compared> {
  const { name, from, to } = change
  assertWritable(change)
  const { found, engine } = view
  if (found.files === null) {
    throw new AdminError('NOT_CONFIGURED', `${name} cannot be set: the compose files of project ${found.project} are not on this machine, or may not be read by this user`, [
      'compose: {file: PATH}   # in the configuration',
    ])
  }
  const project = found.files
  const before = await configured(engine, project, { has: declares(found.service) })
  const current = settingIn(before, found.service, name)
  if (current === to) return 'set'
  if (current !== from) return 'changed'
  await refuseOtherImage(view, before)
  const place = await placeOf({ change, service: found.service, project, environment, read: bytesOf })
  await assertOnlyThat(view, project, before, change, place)
  return place
}

function assertWritable({ name, to }: SettingChange): void {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new AdminError('USAGE', `'${name}' is no name of a setting: letters, digits and _`)
  if (to !== null && /[\0-\x08\x0a-\x1f\x7f]/.test(to)) throw new AdminError('USAGE', `the value of ${name} holds control characters or a line's end`)
}

/** A setting that counts makes the container anew, with whatever image its files name by then. */
async function refuseOtherImage(view: View, { services }: Configured): Promise<void> {
  const { service } = view.found
  const declared = services.find(({ name }) => name === service)?.image
  const { own } = await view.containers()
  const other = own.find(({ image }) => declared && !isSameImage(image, declared))
  if (!other) return
  throw new AdminError('REFUSED', `the compose file names the image ${declared}, and the container ${other.name} has ${other.image}: it would be changed with the setting`, [
    'bring the two together first, in the compose file or in .env',
  ])
}

function settingIn({ services }: Configured, service: string, name: string): string | null {
  return services.find((it) => it.name === service)?.environment.get(name) ?? null
}

/** Asks the compose program what the files would say, without writing them. */
async function assertOnlyThat({ engine, found }: View, whole: Project, all: Configured, { name, to }: SettingChange, place: Place): Promise<void> {
  const project = place.included === null ? whole : await partOf(whole, place.included)
  const has = declares(found.service)
  const before = project === whole ? all : await configured(engine, project, { has }).catch((error: unknown) => {
    throw error instanceof AdminError && error.code !== 'INTERRUPTED' ? refusedPart(name, place.path, error) : error
  })
  const after = await tried(project, place, async (words, input) => configured(engine, project, { words, input, has }))
  if (after === null) return
  const [was, is] = [before.value, after.value].map((value) => without(value, found.service, name))
  if (settingIn(after, found.service, name) === to && isDeepStrictEqual(was, is)) return
  const others = differences(was, is)
  const why = others.length > 0 ? `it would change ${others.slice(0, 5).join(', ')} too` : 'it would not come out so'
  throw new AdminError('REFUSED', `${name} cannot be set in ${place.path}: ${why}`, [typed(['grep', '-n', name, ...project.files])])
}

/** What is included is a project of its own, but for its name, and for variables that the whole sets. */
async function partOf(whole: Project, included: Included): Promise<Project> {
  const dotenvs = [...new Set([...dotenvsOf(included), ...dotenvsOf(whole)])]
  const isHere = await Promise.all(dotenvs.map(isReadable))
  return { name: whole.name, files: included.files, folder: included.folder, environmentFiles: dotenvs.filter((_, index) => isHere[index]) }
}

function refusedPart(name: string, path: string, cause: AdminError): AdminError {
  return new AdminError('REFUSED', `${name} cannot be set in ${path}, which another file includes and which is not valid by itself: ${cause.message}`, ['set it by hand, and leave it in one place'], { cause })
}

/** Null where a file can only be tried in its place. */
async function tried<T>(project: Project, { path, to, kind }: Place, ask: (words: string[], input?: string) => Promise<T>): Promise<T | null> {
  if (kind === 'env-file') return null
  const inPlaceOf = async (file: string): Promise<string[]> => {
    const files = await Promise.all(project.files.map(async (it) => ((await realpath(it)) === path ? file : it)))
    return wordsOf(project, { files, environmentFiles: await environmentFilesOf(project) })
  }
  if (kind === 'compose-file' && extendsFiles(to)) return beside(path, to, async (file) => ask(await inPlaceOf(file)))
  // from there, relative files are the project's; docker-compose 1 takes it for one file alone
  if (kind === 'compose-file' && project.files.length === 1) return ask(wordsOf(project, { files: ['-'] }), to.toString('utf8'))
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  try {
    const file = join(folder, kind === 'dotenv' ? '.env' : basename(path))
    await writeFile(file, to, { mode: 0o600 })
    return await ask(kind === 'dotenv' ? wordsOf(project, { environmentFiles: [...project.environmentFiles.slice(0, -1), file] }) : await inPlaceOf(file))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Such files are meant from where the one is that names them; docker-compose 1 crashes where that is standard input. */
function extendsFiles(bytes: Buffer): boolean {
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

/** The whole but for one setting of one service. */
function without(value: unknown, service: string, name: string): unknown {
  if (!isMap(value) || !isMap(value['services']) || !isMap(value['services'][service])) return value
  const { environment, ...rest } = value['services'][service]
  const others = Object.fromEntries(pairsIn(environment).filter(([it]) => it !== name))
  return { ...value, services: { ...value['services'], [service]: { ...rest, environment: others } } }
}

async function bytesOf(path: string): Promise<{ path: string; bytes: Buffer | null }> {
  try {
    const real = await editedAt(path)
    return { path: real, bytes: await readFile(real) }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return { path, bytes: null }
    if (code === 'EACCES') throw new AdminError('FORBIDDEN', `${path} may not be read by this user`, [command`ls -l ${asPath(path)}`, 'run this with sudo'], { cause: error })
    throw error
  }
}
