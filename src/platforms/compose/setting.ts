import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { assertReplaceable, editedAt, replaceFile } from '../../adapters/replace-file.ts'
import type { Compared, SettingChange } from '../../core/controls.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { configured, declares, differences, isMap, pairsIn } from './project.ts'
import { isSameImage } from './status.ts'
import { placeOf } from './place.ts'
import type { Place } from './place.ts'
import type { Configured, Project } from './project.ts'
import { partOf, tried } from './composed.ts'
import type { View } from './view.ts'
import { asPath, command } from '../../core/shell-command.ts'

/**
 * Sets or removes one of the service's settings in its files. Writes the environment section of the compose file, or
 * `.env` if the value comes from there, and keeps all other bytes. First asks the compose program whether the files
 * would declare the same but for that setting. Throws REFUSED if they would not, or if no single place is certain;
 * NOT_CONFIGURED if the files are not on this machine; USAGE, FORBIDDEN, UNAVAILABLE, UNEXPECTED_ANSWER.
 */
export async function writeSetting(
  view: View,
  change: SettingChange,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Compared> {
  const place = await placeFor(view, change, environment)
  if (typeof place === 'string') return place
  return (await replaceFile(place.path, place)) ? 'set' : 'changed'
}

/** Returns or throws what `writeSetting` would, without changing the files. */
export async function trySetting(
  view: View,
  change: SettingChange,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Compared> {
  const place = await placeFor(view, change, environment)
  if (typeof place === 'string') return place
  await assertReplaceable(place.path)
  return 'set'
}

/** Throws FORBIDDEN if the file that has the setting cannot be replaced; writes nothing, not even beside it. */
export async function askSetting(
  view: View,
  change: SettingChange,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const place = await placeFor(view, change, environment, { isTried: false })
  if (typeof place !== 'string') await assertReplaceable(place.path)
}

async function placeFor(
  view: View,
  change: SettingChange,
  environment: Readonly<Record<string, string | undefined>>,
  { isTried = true } = {},
): Promise<Place | Compared> {
  const { name, from, to } = change
  assertWritable(change)
  const { found, engine } = view
  if (found.files === null) {
    throw new AdminError(
      'NOT_CONFIGURED',
      `\`${name}\` cannot be set: the compose files of project \`${found.project}\` are not on this machine, ` +
        'or this user cannot read them',
      ['compose: {file: PATH}   # in the configuration'],
    )
  }
  const project = found.files
  const before = await configured(engine, project, { has: declares(found.service) })
  const current = settingIn(before, found.service, name)
  if (current === to) return 'set'
  if (current !== from) return 'changed'
  await refuseOtherImage(view, before)
  const place = await placeOf({ change, service: found.service, project, environment, read: bytesOf })
  if (isTried) await assertOnlyThat(view, project, before, change, place)
  return place
}

function assertWritable({ name, to }: SettingChange): void {
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw new AdminError('USAGE', `\`${name}\` is not a valid setting name: use letters, digits and \`_\``)
  if (to !== null && /[\0-\x08\x0a-\x1f\x7f]/.test(to))
    throw new AdminError('USAGE', `the value of \`${name}\` contains control characters or a line break`)
}

/** Throws REFUSED if the files name another image: a changed setting recreates the container with that image. */
async function refuseOtherImage(view: View, { services }: Configured): Promise<void> {
  const { service } = view.found
  const declared = services.find(({ name }) => name === service)?.image
  const { own } = await view.containers()
  const other = own.find(({ image }) => declared && !isSameImage(image, declared))
  if (!other) return
  throw new AdminError(
    'REFUSED',
    `this change would also change the image: the compose file has \`${declared}\`, but container ` +
      `\`${other.name}\` runs \`${other.image}\``,
    ['first set the image in the compose file or in `.env` to the one that is running'],
  )
}

function settingIn({ services }: Configured, service: string, name: string): string | null {
  return services.find((it) => it.name === service)?.environment.get(name) ?? null
}

/** Asks the compose program what the new files would declare, without writing them. */
async function assertOnlyThat(
  { engine, found }: View,
  whole: Project,
  all: Configured,
  { name, to }: SettingChange,
  place: Place,
): Promise<void> {
  const project = place.included === null ? whole : await partOf(whole, place.included)
  const has = declares(found.service)
  const before =
    project === whole
      ? all
      : await configured(engine, project, { has }).catch((error: unknown) => {
          throw error instanceof AdminError && error.code !== 'INTERRUPTED'
            ? refusedPart(name, place.path, error)
            : error
        })
  const after = await tried(project, place, async (words, input) => configured(engine, project, { words, input, has }))
  if (after === null) return
  const [was, is] = [before.value, after.value].map((value) => without(value, found.service, name))
  if (settingIn(after, found.service, name) === to && isDeepStrictEqual(was, is)) return
  const others = differences(was, is)
  const why =
    others.length > 0
      ? `this would also change ${others.slice(0, 5).join(', ')}`
      : 'compose would read a different value'
  throw new AdminError('REFUSED', `\`${name}\` cannot be set in ${place.path}: ${why}`, [
    typed(['grep', '-n', name, ...project.files]),
  ])
}

function refusedPart(name: string, path: string, cause: AdminError): AdminError {
  return new AdminError(
    'REFUSED',
    `\`${name}\` cannot be set in ${path}, an included file that is not valid by itself: ${cause.message}`,
    ['change the setting by hand, in one place only'],
    { cause },
  )
}

/** Returns the whole project except one setting of one service. */
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
    if (code === 'EACCES')
      throw new AdminError(
        'FORBIDDEN',
        `this user cannot read ${path}`,
        [command`ls -l ${asPath(path)}`, 'run the same command with sudo'],
        { cause: error },
      )
    throw error
  }
}
