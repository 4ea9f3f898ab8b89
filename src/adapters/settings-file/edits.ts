import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { ValueEdit, ValueLook } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { watched } from '../../core/work.ts'
import { openUnheld } from '../open-file.ts'
import { editYaml, isEmptyYaml, YamlEditError } from '../yaml/edit.ts'
import { parseYaml, YamlError } from '../yaml/index.ts'
import type { ParsedYaml } from '../yaml/look.ts'
import { lookAt, parsedYaml } from '../yaml/look.ts'

/**
 * bytes; a release with all its values fits into a Secret of 1 MB (helm's own storage), so a larger file is something
 * else
 */
export const mostBytes = 1_000_000

/** A settings file as it is now, with its content. */
interface SettingsFile extends ParsedYaml {
  bytes: Buffer
}

/** Runs work on a file's text, and ends it if it takes too long. Throws TIMED_OUT. */
type WatchFile = <T>(file: string, work: () => T) => T

/** Returns a function that limits the time of work on a file's text, as for the answer of a server. */
export function watchFiles(timeoutMs: number): WatchFile {
  return (file, work) =>
    watched(work, {
      timeoutMs,
      late: () =>
        new AdminError('TIMED_OUT', `reading ${file} timed out after ${timeoutMs / 1000} s`, [
          typed(['head', '-n', '5', file]),
          '--timeout 60   # if this machine is very busy',
        ]),
    })
}

/**
 * Returns a function that reads a settings file each time, and parses it only if it differs from the last one.
 * Throws as `FilesSource` does.
 */
export function settingsFiles(watch: WatchFile): (file: string) => Promise<SettingsFile> {
  let last: SettingsFile | null = null
  return async (file) => {
    const bytes = await bytesOf(file)
    if (!last?.bytes.equals(bytes)) last = { bytes, ...watch(file, () => parsedIn(file, bytes)) }
    return last
  }
}

function parsedIn(file: string, bytes: Buffer): ParsedYaml {
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw refused(file, null, 'it is not UTF-8')
  refuseEncrypted(file, text)
  try {
    if (!isEmptyYaml(text)) parseYaml(text)
    return parsedYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const [line = ''] = text.split('\n').slice(error.line - 1)
    const reason = line.includes('{{')
      ? 'the line is part of a template, so its values are unknown until the template is rendered'
      : error.message
    throw refused(file, error.line, reason, error)
  }
}

/** Returns the error REFUSED: the requested change was not made. */
function refused(file: string, line: number | null, reason: string, cause?: unknown): AdminError {
  const at = line === null ? file : `${file} line ${line}`
  return new AdminError(
    'REFUSED',
    `${at} cannot be edited safely: ${reason}`,
    line === null ? [typed(['head', '-n', '5', file])] : [typed(['sed', '-n', `${line}p`, file])],
    {
      cause,
    },
  )
}

/** Reads a file of at most `mostBytes`. Throws as `FilesSource` does. */
export async function bytesOf(file: string): Promise<Buffer> {
  try {
    const handle = await openUnheld(file)
    try {
      const about = await handle.stat()
      if (!about.isFile())
        throw new AdminError('USAGE', `${file} is ${about.isDirectory() ? 'a folder' : 'not a regular file'}`, [
          typed(['ls', '-l', asPath(asPath(file))]),
        ])
      if (about.size > mostBytes)
        throw refused(file, null, `the file is larger than ${mostBytes / 1_000_000} MB. Is it the right file?`)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof AdminError) throw error
    const look = [typed(['ls', '-l', asPath(asPath(file))])]
    const code = codeOf(error)
    if (code === 'ENOENT') throw new AdminError('USAGE', `the file ${file} is missing`, look, { cause: error })
    if (code === 'EACCES')
      throw new AdminError('FORBIDDEN', `this user cannot read ${file}`, [...look, 'run the same command with sudo'], {
        cause: error,
      })
    throw new AdminError('UNAVAILABLE', `${file} cannot be read: ${messageOf(error)}`, look, { cause: error })
  }
}

/**
 * Throws REFUSED for a file that SOPS encrypted. SOPS signs the whole file, so another change makes it unreadable
 * (getsops.io, "Message Authentication Code").
 */
function refuseEncrypted(file: string, text: string): void {
  const lines = text.split('\n')
  const index = lines.findIndex((line) => /^["']?sops["']?\s*:/.test(line) || /\bENC\[[A-Z0-9_]+,/.test(line))
  if (index < 0) return
  const reason = 'SOPS has encrypted the file, and rejects it if it is changed without SOPS'
  throw new AdminError('REFUSED', `${file} line ${index + 1} cannot be edited safely: ${reason}`, [
    command`sops ${asPath(file)}   # opens the file in an editor, then encrypts it again`,
  ])
}

/** Returns the text with these edits made, and what each edit changes. Throws REFUSED. */
export function planEdits(
  file: string,
  text: string,
  wanted: readonly Pick<ValueEdit, 'path' | 'to'>[],
): { text: string; edits: ValueEdit[] } {
  const edits: ValueEdit[] = []
  let now = text
  for (const { path, to } of wanted) {
    const { text: from, line } = lookedAt(file, parsedYaml(now), path)
    if (from?.includes('{{'))
      throw refused(
        file,
        line,
        `${path.join('.')} is a template, so its value is unknown until the template is rendered`,
      )
    const next = edited(file, now, path, to)
    edits.push({ path, from, to, ...spliceOf(now, next) })
    now = next
  }
  return { text: now, edits }
}

/**
 * Returns the text as it was before these edits, byte for byte if nothing else has changed since, and nearly so
 * otherwise. Prefers a way back that leads forward again to exactly this text. Throws REFUSED.
 */
export function revertEdits(file: string, text: string, edits: readonly ValueEdit[]): string {
  return edits.reduceRight(
    (now, edit) =>
      lookedAt(file, parsedYaml(now), edit.path).text === edit.from && edit.from !== edit.to
        ? now
        : reverted(file, now, edit),
    text,
  )
}

/** Returns what is at a path. Throws REFUSED if a text within the file is not YAML. */
export function lookedAt(file: string, parsed: ParsedYaml, path: readonly string[]): ValueLook {
  return orRefused(file, () => lookAt(parsed, path))
}

/** Runs `work`. Throws REFUSED if it throws an error about the text. */
export function orRefused<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof YamlEditError || error instanceof YamlError)
      throw refused(file, error.line, error.message, error)
    throw error
  }
}

/** places to try, so that a short text in a large file does not take minutes */
const mostTries = 64

function reverted(file: string, text: string, edit: ValueEdit): string {
  for (const at of placesOf(text, edit)) {
    const before = text.slice(0, at) + edit.was + text.slice(at + edit.is.length)
    if (leadsTo(before, edit, text)) return before
  }
  return edited(file, text, edit.path, edit.from)
}

function placesOf(text: string, { at, is }: ValueEdit): number[] {
  const places = text.startsWith(is, at) ? [at] : []
  for (
    let next = text.indexOf(is);
    is !== '' && next >= 0 && places.length < mostTries;
    next = text.indexOf(is, next + 1)
  )
    places.push(next)
  return places
}

function leadsTo(before: string, { path, from, to }: ValueEdit, after: string): boolean {
  try {
    return lookAt(parsedYaml(before), path).text === from && editYaml(before, [{ path, to }]) === after
  } catch {
    // cut at another place, it may not be YAML at all
    return false
  }
}

function edited(file: string, text: string, path: readonly string[], to: string | null): string {
  return orRefused(file, () => editYaml(text, [{ path, to }]))
}

/** Returns the characters between the common beginning and the common end of both texts. */
function spliceOf(before: string, after: string): Pick<ValueEdit, 'at' | 'was' | 'is'> {
  const shorter = Math.min(before.length, after.length)
  let at = 0
  while (at < shorter && before[at] === after[at]) at += 1
  let end = 0
  while (end < shorter - at && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return { at, was: before.slice(at, before.length - end), is: after.slice(at, after.length - end) }
}
