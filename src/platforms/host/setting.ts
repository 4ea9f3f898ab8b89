import { editedAt } from '../../adapters/edited-at.ts'
import { assertReplaceable, replaceFile } from '../../adapters/replace-file.ts'
import type { Compared, SettingChange, Traces } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { changedText, valueIn } from './edit-setting.ts'
import { bytesOf } from './environment.ts'
import type { SettingsFile } from './environment.ts'
import type { ServiceManager } from './manager.ts'
import type { HostSettings } from './settings.ts'
import { asPath, command } from '../../core/shell-command.ts'

/** Where a file was changed, and its text there before and since, one character per byte. */
interface Trace {
  path: string
  at: number
  was: string
  is: string
}

const mark = 'environment-file '

/** Returns what is needed to undo a file's change to the byte; null if the change is in more than one place. */
export function traceOf(path: string, from: Buffer, to: Buffer): string | null {
  let at = 0
  while (at < from.length && at < to.length && from[at] === to[at]) at += 1
  let same = 0
  while (same < from.length - at && same < to.length - at && from[from.length - 1 - same] === to[to.length - 1 - same])
    same += 1
  const trace: Trace = {
    path,
    at,
    was: from.subarray(at, from.length - same).toString('latin1'),
    is: to.subarray(at, to.length - same).toString('latin1'),
  }
  // the text between two places that were removed is no part of the change, and may be secret
  return trace.is !== '' && trace.was.includes('\n') ? null : `${mark}${JSON.stringify(trace)}`
}

/**
 * Returns the file as it was before the change that was noted last. Null if the changed text is no longer there, or if
 * the result does not give `to`.
 */
function traced(
  path: string,
  bytes: Buffer,
  { name, to }: { name: string; to: string | null },
  notes: readonly string[],
): Buffer | null {
  const trace = notes.flatMap(traceIn).findLast((it) => it.path === path)
  if (!trace) return null
  const text = bytes.toString('latin1')
  if (!text.startsWith(trace.is, trace.at)) return null
  const back = Buffer.from(`${text.slice(0, trace.at)}${trace.was}${text.slice(trace.at + trace.is.length)}`, 'latin1')
  return valueIn(back, name) === to ? back : null
}

function traceIn(note: string): Trace[] {
  if (!note.startsWith(mark)) return []
  try {
    const { path, at, was, is } = JSON.parse(note.slice(mark.length)) as Partial<Trace>
    return typeof path === 'string' && typeof at === 'number' && typeof was === 'string' && typeof is === 'string'
      ? [{ path, at, was, is }]
      : []
  } catch {
    return []
  }
}

interface Place {
  path: string
  from: Buffer | null
  to: Buffer
}

/**
 * Sets or removes one setting in the environment file that has it; keeps all other bytes. Replaces the file in one
 * step; what was noted of an earlier change undoes it to the byte. Returns `changed` if the setting is neither `from`
 * nor `to` now. Throws REFUSED if it is set in several places, or in none that can be written; FORBIDDEN, UNAVAILABLE,
 * NOT_CONFIGURED, USAGE.
 */
export async function writeSetting(
  change: SettingChange,
  manager: ServiceManager | null,
  configured: HostSettings['environmentFile'],
  { note, notes = [] }: Traces = {},
): Promise<Compared> {
  const found = await placeFor(change, manager, configured)
  if (typeof found === 'string') return found
  const former = found.from && traced(found.path, found.from, change, notes)
  const place = former ? { ...found, to: former } : found
  const trace = place.from && traceOf(place.path, place.from, place.to)
  if (trace) await note?.(trace)
  return (await replaceFile(place.path, place)) ? 'set' : 'changed'
}

/** Returns or throws what `writeSetting` would; writes nothing. */
export async function trySetting(
  change: SettingChange,
  manager: ServiceManager | null,
  configured: HostSettings['environmentFile'],
): Promise<Compared> {
  const place = await placeFor(change, manager, configured)
  if (typeof place === 'string') return place
  await assertReplaceable(place.path)
  return 'set'
}

/** Returns the file to write and its new content, or the answer if there is nothing to write. */
async function placeFor(
  { name, from, to }: SettingChange,
  manager: ServiceManager | null,
  configured: HostSettings['environmentFile'],
): Promise<Place | Compared> {
  assertWritable(name, to)
  const declared = (await manager?.environment()) ?? { variables: new Map<string, string>(), files: [] }
  const files = await settingsFiles(declared.files, configured)
  const held = files.map((it) => ({ ...it, value: it.bytes && valueIn(it.bytes, name) }))
  const having = held.filter(({ value }) => value !== null)
  assertOnePlace(name, having, declared.variables.has(name), manager)

  const current = having[0]?.value ?? null
  if (current === to) return 'set'
  if (current !== from) return 'changed'
  // the last file that is read overrides the others
  const place = having[0] ?? held.findLast(({ bytes }) => bytes !== null) ?? held.at(-1)
  if (!place) {
    throw new AdminError('NOT_CONFIGURED', `${name} cannot be set: the service's environment file is unknown`, [
      'set `host.environmentFile`',
    ])
  }
  const next = changedText(place.bytes ?? Buffer.alloc(0), name, to)
  if (next === null) {
    throw new AdminError(
      'REFUSED',
      `${name} cannot be set in ${place.path}: the file ends inside a quote or a continued line`,
      [command`tail -n 5 ${asPath(place.path)}`],
    )
  }
  return { path: place.path, from: place.bytes, to: next }
}

function assertWritable(name: string, to: string | null): void {
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw new AdminError('USAGE', `'${name}' is not a setting name: use letters, digits and _`)
  if (to !== null && /[\0-\x08\x0a-\x1f\x7f]/.test(to))
    throw new AdminError('USAGE', `the value of ${name} contains control characters or a line break`)
}

/** Reads each file once, at its real path. Throws REFUSED for an entry that stands for several files. */
async function settingsFiles(
  ofUnit: readonly SettingsFile[],
  configured: HostSettings['environmentFile'],
): Promise<{ path: string; bytes: Buffer | null }[]> {
  // the configured file replaces the unit's own, which may still set the same
  const named: readonly SettingsFile[] = configured === null ? ofUnit : [...ofUnit, { ...configured, optional: false }]
  const pattern = named.find(({ path }) => /[*?[]/.test(path))
  if (pattern) {
    throw new AdminError('REFUSED', `the service reads its settings from ${pattern.path}, which may be many files`, [
      'set the one to write as `host.environmentFile`, and name it in the unit',
    ])
  }
  const read = await Promise.all(
    named.map(async (it) => {
      const bytes = await bytesOf(it)
      return { path: bytes === null ? it.path : await editedAt(it.path), bytes }
    }),
  )
  return [...new Map(read.map((it) => [it.path, it])).values()]
}

function assertOnePlace(
  name: string,
  having: readonly { path: string }[],
  isInUnit: boolean,
  manager: ServiceManager | null,
): void {
  const places = [
    ...having.map(({ path }) => path),
    ...(isInUnit ? [`Environment= of ${manager?.commands.settings ?? 'the unit'}`] : []),
  ]
  if (places.length > 1) {
    throw new AdminError('REFUSED', `${name} is set in several places: ${places.join(', ')}`, [
      'keep it in only one of them',
    ])
  }
  if (isInUnit) {
    throw new AdminError('REFUSED', `${name} is set by ${places.join('')}, which this program does not write`, [
      `move it from there into an environment file`,
    ])
  }
}
