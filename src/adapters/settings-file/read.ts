import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { openUnheld } from '../open-file.ts'
import { watched } from '../../core/watched.ts'
import { isEmptyYaml } from '../yaml/edit.ts'
import { parseYaml, YamlError } from '../yaml/index.ts'
import { parsedYaml } from '../yaml/look.ts'
import type { ParsedYaml } from '../yaml/look.ts'
import { asPath, command } from '../../core/shell-command.ts'

/**
 * bytes; a release with all its values fits into a Secret of 1 MB (helm's own storage), so a larger file is something
 * else
 */
export const mostBytes = 1_000_000

/** A settings file as it is now, with its content. */
export interface SettingsFile extends ParsedYaml {
  bytes: Buffer
}

/** Runs work on a file's text, and ends it if it takes too long. Throws TIMED_OUT. */
export type WatchFile = <T>(file: string, work: () => T) => T

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
      ? 'it is a template, not values: its contents are unknown until it is filled in'
      : error.message
    throw refused(file, error.line, reason, error)
  }
}

/** Returns the error REFUSED: the requested change was not made. */
export function refused(file: string, line: number | null, reason: string, cause?: unknown): AdminError {
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
        throw refused(file, null, `it is larger than ${mostBytes / 1_000_000} MB: is it the right file?`)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof AdminError) throw error
    const look = [typed(['ls', '-l', asPath(asPath(file))])]
    const code = codeOf(error)
    if (code === 'ENOENT') throw new AdminError('USAGE', `there is no file ${file}`, look, { cause: error })
    if (code === 'EACCES')
      throw new AdminError('FORBIDDEN', `this user cannot read ${file}`, [...look, 'run this with sudo'], {
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
  const reason = 'it is encrypted with SOPS, which signs the whole file'
  throw new AdminError('REFUSED', `${file} line ${index + 1} cannot be edited safely: ${reason}`, [
    command`sops ${asPath(file)}   # opens it in an editor, and signs it again`,
  ])
}
