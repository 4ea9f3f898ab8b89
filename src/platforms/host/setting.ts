import { assertReplaceable, editedAt, replaceFile } from '../../adapters/replace-file.ts'
import type { Compared, SettingChange, Traces } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { SettingsFile } from './environment.ts'
import { assignmentsIn, bytesOf, parseEnvironmentFile } from './environment.ts'
import type { HostSettings, ServiceManager } from './manager.ts'

/** Returns the value that a file gives to a setting; null if it gives none. */
export function valueIn(file: Buffer, name: string): string | null {
  const value = parseEnvironmentFile(binary(file)).get(name)
  return value === undefined ? null : Buffer.from(value, 'latin1').toString('utf8')
}

/**
 * Sets one setting in a file, in place of the last assignment that counts, else at the end; null removes it. Returns
 * null if the result would not read as wanted, as after an unclosed quote.
 */
export function changedText(file: Buffer, name: string, to: string | null): Buffer | null {
  const text = binary(file)
  const next = to === null ? without(text, name) : withValue(text, name, binary(Buffer.from(to, 'utf8')))
  const wanted = parseEnvironmentFile(text)
  if (to === null) wanted.delete(name)
  else wanted.set(name, binary(Buffer.from(to, 'utf8')))
  return isSame(parseEnvironmentFile(next), wanted) ? Buffer.from(next, 'latin1') : null
}

/** One character per byte, so that text outside UTF-8 stays unchanged. */
function binary(bytes: Buffer): string {
  return bytes.toString('latin1')
}

function withValue(text: string, name: string, value: string): string {
  const last = assignmentsIn(text).findLast((it) => it.name === name)
  const newline = /\r?\n/.exec(text)?.[0] ?? '\n'
  if (last === undefined) {
    const before = text === '' || text.endsWith('\n') ? text : `${text}${newline}`
    return `${before}${name}=${quoted(value)}${newline}`
  }
  const old = text.slice(last.valueStart, last.end)
  const [blanks = ''] = /^[ \t]*/.exec(old) ?? []
  const [end = ''] = /\r?\n$/.exec(old) ?? []
  return `${text.slice(0, last.valueStart)}${blanks}${quoted(value)}${end}${text.slice(last.end)}`
}

/** Removes every assignment: without only the last one, an earlier one would apply. */
function without(text: string, name: string): string {
  const kept: string[] = []
  let from = 0
  for (const { start, end } of assignmentsIn(text).filter((it) => it.name === name)) {
    kept.push(text.slice(from, start))
    from = end
  }
  return kept.join('') + text.slice(from)
}

/** Quotes a value so that systemd and a shell read it alike. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value) ? value : `"${value.replace(/(["\\$`])/g, '\\$1')}"`
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value)
}

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
    throw new AdminError('NOT_CONFIGURED', `\`${name}\` cannot be set: the service has no known environment file`, [
      'set `host.environmentFile`',
    ])
  }
  const next = changedText(place.bytes ?? Buffer.alloc(0), name, to)
  if (next === null) {
    throw new AdminError(
      'REFUSED',
      `\`${name}\` cannot be set in ${place.path}: the file ends with an unclosed quote or a backslash`,
      [command`tail -n 5 ${asPath(place.path)}`],
    )
  }
  return { path: place.path, from: place.bytes, to: next }
}

function assertWritable(name: string, to: string | null): void {
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw new AdminError('USAGE', `\`${name}\` is not a valid setting name: use letters, digits and \`_\``)
  if (to !== null && /[\0-\x08\x0a-\x1f\x7f]/.test(to))
    throw new AdminError('USAGE', `the value of \`${name}\` contains control characters or a line break`)
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
    throw new AdminError(
      'REFUSED',
      `the service reads its settings from ${pattern.path}, which may match several files`,
      ['set `host.environmentFile` to the file that should change, and in the unit replace the pattern with that file'],
    )
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
    throw new AdminError('REFUSED', `\`${name}\` is set in several places: ${places.join(', ')}`, [
      'keep the setting in only one of these places',
    ])
  }
  if (isInUnit) {
    throw new AdminError('REFUSED', `\`${name}\` is set by ${places.join('')}, which testops-admin does not change`, [
      'move the setting from the unit into an environment file',
    ])
  }
}
