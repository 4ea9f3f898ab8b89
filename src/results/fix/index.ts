import { chmod, lstat, mkdtemp, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { copyAll } from './copy.ts'
import type { CopyReport } from './copy.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { asPath } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { basename, dirname, join, resolve, sep } from 'node:path'

export interface FixOptions {
  from: string
  output: string
  /** rules whose findings are not mended */
  off: ReadonlySet<RuleId>
  writers: Writers
  signal: AbortSignal
  /** receives a message about each unfinished copy that stays */
  tell?: (message: string) => void
  progress?: (done: number, total: number) => void
}

/**
 * Writes a mended copy of a results directory: attachments lie in the root, and long texts are kept whole. Never
 * touches the original. The copy gets its name once it is complete. An interruption leaves nothing, or a hidden
 * directory, which the next copy to the same place removes. Throws USAGE, FORBIDDEN, UNAVAILABLE, and the signal's
 * reason.
 */
export async function mendedCopy({
  from,
  output,
  off,
  writers,
  signal,
  tell = () => undefined,
  progress = () => undefined,
}: FixOptions): Promise<CopyReport> {
  const places = await placesOf(from, output)
  let next: string | null = null
  try {
    await removeDrafts(places.output, writers, tell)
    next = await newDraft(places.output, writers)
    const report = await copyAll({ from: places.from, to: next, off, signal, progress })
    await chmod(next, (await stat(places.from)).mode & 0o7777)
    signal.throwIfAborted()
    await rename(next, places.output)
    return report
  } catch (error) {
    if (next !== null) await rm(next, { recursive: true, force: true })
    throw signal.aborted ? signal.reason : copyFailure(error, from, output, draftPath(places.output))
  }
}

/**
 * Returns the error for a failed copy, in the operator's words; the caller has removed the copy. `hidden`: start of the
 * path of an unfinished copy.
 */
function copyFailure(error: unknown, from: string, output: string, hidden: string): unknown {
  if (error instanceof AdminError) return error
  const { path } = error as NodeJS.ErrnoException
  const file = path === undefined ? from : String(path).startsWith(hidden) ? parentOf(output) : String(path)
  const fail = (code: 'FORBIDDEN' | 'UNAVAILABLE', message: string, next: Suggestion[]): AdminError =>
    new AdminError(code, `${message}; nothing was written to ${output}`, next, { cause: error })
  switch (codeOf(error)) {
    case null:
      return error
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('UNAVAILABLE', 'the disk has no room for the copy', [typed(['df', '-h', asPath(parentOf(output))])])
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'ENOTDIR':
      return new AdminError(
        'USAGE',
        `--output: another program wrote to ${output} during the copy, so this command wrote nothing there`,
        [typed(['ls', '-ld', asPath(output)])],
        { cause: error },
      )
    case 'EROFS':
      return fail('FORBIDDEN', `${file} is on a read-only file system`, [typed(['df', '-h', asPath(file)])])
    case 'EACCES':
    case 'EPERM':
      return fail('FORBIDDEN', `this user has no permission to read or write ${file}`, [
        typed(['ls', '-ld', asPath(file)]),
      ])
    case 'ENOENT':
      return fail(
        'UNAVAILABLE',
        `${file} disappeared during the copy. Another program may still be writing to the directory`,
        [typed(['ls', '-l', asPath(from)])],
      )
    default:
      return fail('UNAVAILABLE', `${file} cannot be copied: ${messageOf(error)}`, [typed(['ls', '-ld', asPath(file)])])
  }
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*$/, '') || '.'
}

/** Marks of processes in directory names. They tell a killed process's leftovers from a copy that is being written. */
export interface Writers {
  /** this process */
  own: string
  /** true if the process with that mark has ended; null if this machine cannot tell */
  hasEnded: (mark: string) => Promise<boolean | null>
}

/** Returns the start of an unfinished copy's path. */
function draftPath(output: string): string {
  return join(dirname(output), `.${basename(output)}.new-`)
}

/** Makes an empty hidden directory beside the output. Its name shows which process writes there. */
async function newDraft(output: string, { own }: Writers): Promise<string> {
  return mkdtemp(`${draftPath(output)}${own}-`)
}

/**
 * Removes unfinished copies to the same output that killed processes left, to make room for the next one. Reports those
 * that may be in use, or cannot be removed.
 */
async function removeDrafts(output: string, { hasEnded }: Writers, tell: (message: string) => void): Promise<void> {
  const start = basename(draftPath(output))
  const entries = await readdir(dirname(output), { withFileTypes: true })
  for (const entry of entries) {
    const named =
      entry.isDirectory() && entry.name.startsWith(start)
        ? /^(?:([\w-]+)-)?[A-Za-z\d]{6}$/.exec(entry.name.slice(start.length))
        : null
    if (!named) continue
    const path = join(dirname(output), entry.name)
    const ended = await hasEnded(named[1] ?? '')
    const isLeft =
      ended === null ||
      (ended &&
        (await rm(path, { recursive: true, force: true }).then(
          () => false,
          () => true,
        )))
    if (isLeft) {
      const advice = ended
        ? ' that this user cannot remove. To remove the copy'
        : '. Another machine may still be writing it. If not, remove the copy'
      tell(`${path} is an unfinished copy${advice}: ${typed(['rm', '-r', asPath(path)])}`)
    }
  }
}

/** Both as real paths. */
interface Places {
  from: string
  output: string
}

/** Returns both real paths. Throws USAGE if a copy there would overwrite something, or contain itself. */
async function placesOf(from: string, output: string): Promise<Places> {
  const parent = dirname(resolve(output))
  const places = {
    from: await folderAt(from, []),
    output: join(await folderAt(parent, [typed(['mkdir', '-p', asPath(parent)])]), basename(resolve(output))),
  }
  const isInside = (inner: string, outer: string): boolean =>
    inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`)
  const next = [typed(['testops-admin', 'lint-results', from, '--fix', '--output', `${places.from}-mended`])]
  if (isInside(places.output, places.from))
    throw new AdminError('USAGE', `--output: the copy must be outside the original ${from}, but ${output} is not`, next)
  if (isInside(places.from, places.output))
    throw new AdminError('USAGE', `--output: ${output} contains the original ${from}`, next)
  await assertFree(places.output, output, next)
  return places
}

async function folderAt(path: string, next: Suggestion[]): Promise<string> {
  try {
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new AdminError('USAGE', `there is no directory ${path}`, next, { cause: error })
    throw new AdminError(
      'FORBIDDEN',
      `the directory ${path} cannot be reached: ${messageOf(error)}`,
      [typed(['ls', '-ld', asPath(path)])],
      { cause: error },
    )
  }
  throw new AdminError('USAGE', `${path} is not a directory`, [typed(['ls', '-ld', asPath(path)])])
}

async function assertFree(path: string, output: string, next: readonly Suggestion[]): Promise<void> {
  try {
    const about = await lstat(path)
    if (!about.isDirectory())
      throw new AdminError(
        'USAGE',
        `--output: ${output} exists, but is ${about.isSymbolicLink() ? 'a symbolic link' : 'not a directory'}`,
        next,
      )
    if ((await readdir(path)).length > 0) throw new AdminError('USAGE', `--output: ${output} is not empty`, next)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
