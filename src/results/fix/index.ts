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
  /** what these find is not mended */
  off: ReadonlySet<RuleId>
  writers: Writers
  signal: AbortSignal
  /** is told what was left by others, and is not touched */
  tell?: (message: string) => void
  progress?: (done: number, total: number) => void
}

/**
 * Writes a copy of a results directory in which attachments lie in the root and long texts are kept whole, and never
 * touches the original. It gets its name once it is complete: whatever ends this before leaves nothing, or a hidden
 * directory that no one takes for it, and that the next copy to the same place removes. Throws USAGE, FORBIDDEN,
 * UNAVAILABLE, and the signal's reason.
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
 * Why a copy could not be made, in the operator's words; nothing is left of it. `hidden`: what the path begins with
 * before it has its name.
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
      return fail('UNAVAILABLE', 'there is no room for the copy', [typed(['df', '-h', asPath(parentOf(output))])])
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'ENOTDIR':
      return new AdminError(
        'USAGE',
        `--output: something else wrote ${output} during the copy, so it is left as it is`,
        [typed(['ls', '-ld', asPath(output)])],
        { cause: error },
      )
    case 'EROFS':
      return fail('FORBIDDEN', `${file} is on a read-only file system`, [typed(['df', '-h', asPath(file)])])
    case 'EACCES':
    case 'EPERM':
      return fail('FORBIDDEN', `this user may not read or write ${file}`, [typed(['ls', '-ld', asPath(file)])])
    case 'ENOENT':
      return fail('UNAVAILABLE', `${file} disappeared during the copy: is something still writing there?`, [
        typed(['ls', '-l', asPath(from)]),
      ])
    default:
      return fail('UNAVAILABLE', `${file} cannot be copied: ${messageOf(error)}`, [typed(['ls', '-ld', asPath(file)])])
  }
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*$/, '') || '.'
}

/** Processes as parts of names: what one that was killed has left is told from what another one is writing. */
export interface Writers {
  /** this process */
  own: string
  /** whether that one has ended; null: nobody can tell from here */
  hasEnded: (mark: string) => Promise<boolean | null>
}

/** What the path of a copy begins with before it has its name. */
function draftPath(output: string): string {
  return join(dirname(output), `.${basename(output)}.new-`)
}

/** An empty hidden directory beside the output, by whose name everyone can tell who writes there. */
async function newDraft(output: string, { own }: Writers): Promise<string> {
  return mkdtemp(`${draftPath(output)}${own}-`)
}

/**
 * Removes what processes that were killed have left of copies to the same output, before it takes room from the next
 * one. What may be another one's work is told of.
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
    if (isLeft)
      tell(
        `${path} is an unfinished copy, ${ended ? 'which cannot be removed by this user' : 'perhaps of another machine that still writes it; if not'}: ${typed(['rm', '-r', asPath(path)])}`,
      )
  }
}

/** Both as they really are. */
interface Places {
  from: string
  output: string
}

/** Where is copied from and to. Throws USAGE where a copy there would overwrite something, or contain itself. */
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
    throw new AdminError('USAGE', `--output: ${output} is in ${from}, which is never changed`, next)
  if (isInside(places.from, places.output)) throw new AdminError('USAGE', `--output: ${from} is in ${output}`, next)
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
  throw new AdminError('USAGE', `${path} is no directory`, [typed(['ls', '-ld', asPath(path)])])
}

async function assertFree(path: string, output: string, next: readonly Suggestion[]): Promise<void> {
  try {
    const about = await lstat(path)
    if (!about.isDirectory())
      throw new AdminError(
        'USAGE',
        `--output: ${output} is there, and ${about.isSymbolicLink() ? 'a symbolic link' : 'no directory'}`,
        next,
      )
    if ((await readdir(path)).length > 0) throw new AdminError('USAGE', `--output: ${output} is not empty`, next)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
