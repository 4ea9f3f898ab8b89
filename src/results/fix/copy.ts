import { closeSync, constants, createReadStream, createWriteStream, existsSync, fstatSync, readFile } from 'node:fs'
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { sharedAnswers } from '../../core/answers.ts'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { LeadsOut, openInside } from '../read/inside.ts'
import { byteName, listingOf, movesIn, pathIn, shown } from './moves.ts'
import type { ByteName, Listing } from './moves.ts'
import { mendedFile } from './mend.ts'
import type { Left, Mending } from './mend.ts'
import { asPath } from '../../core/shell-command.ts'

export interface CopyOptions {
  /** real paths; `to` exists and is empty */
  from: string
  to: string
  off: ReadonlySet<RuleId>
  signal: AbortSignal
  progress: (done: number, total: number) => void
}

export interface CopyReport {
  files: number
  mended: ReadonlyMap<RuleId, number>
  left: readonly (Left & { file: string })[]
  leftCount: number
  omitted: Listing['omitted']
}

/** Number of files that wait for the disk at the same time. */
const atOnce = 16
/** Maximum bytes of a file that is mended; a larger one is no such result, and would fill the memory. */
const mostBytes = 64_000_000
const mostLeft = 1000
/** Mode bits that are copied. Set-user-ID is left out, since the copy has another owner. */
const modeBits = 0o777
/** Folder of names for open files, which stay valid if the files' own names change; null if there is none. */
const descriptors = existsSync('/proc/self/fd') ? '/proc/self/fd' : null
const readAll = promisify(readFile)

/**
 * Copies all files, and mends those of the root that name attachments. Throws what the system throws, and the signal's
 * reason.
 */
export async function copyAll({ from, to, off, signal, progress }: CopyOptions): Promise<CopyReport> {
  const listing = await listingOf(from)
  const moves = movesIn(listing, from)
  const isMoving = !off.has('nested-attachment')
  const mending: Mending = {
    move: isMoving ? moves.move : null,
    newName: off.has('long-field') ? null : () => moves.newName('.txt'),
  }
  const left: (Left & { file: string })[] = []
  const counts = { files: 0, texts: 0 }
  const count = (): void => {
    counts.files += 1
    progress(counts.files, listing.files.length)
  }
  const mend = async (file: ByteName): Promise<void> => {
    const read = await withOpen(from, file, async ({ descriptor, size, mode }) =>
      size > mostBytes ? null : { bytes: await readAll(descriptor), mode },
    )
    if (read === null) return copy(file, [file])
    const { bytes, mode } = read
    const { bytes: after, attachments, left: rest, cut } = mendedFile(bytes, file.endsWith('-result.json'), mending)
    for (const { name, text } of attachments) await writeFile(pathIn(to, byteName(name)), text)
    await writeFile(pathIn(to, file), after ?? bytes, { mode })
    counts.texts += cut
    left.push(...rest.map((it) => ({ ...it, file: shown(file) })))
    count()
  }
  const made = sharedAnswers({ keep: 'everything' })
  const folderOf = async (name: ByteName): Promise<unknown> => {
    const folder = posix.dirname(name)
    return folder === '.' || made.to(folder, async () => mkdir(pathIn(to, folder), { recursive: true }))
  }
  const copy = async (file: ByteName, destinations: readonly ByteName[]): Promise<void> => {
    for (const name of destinations) {
      await folderOf(name)
      await withOpen(from, file, async (it) => copyBytes(it, pathIn(to, name), signal))
    }
    count()
  }

  const isMended = (file: ByteName): boolean =>
    posix.dirname(file) === '.' && /-(?:result|container|globals)\.json$/.test(file)
  await each(listing.files.filter(isMended), signal, mend)
  // only now is it known what all sources name
  await each(
    listing.files.filter((file) => !isMended(file)),
    signal,
    async (file) => copy(file, isMoving ? moves.destinations(file) : [file]),
  )
  const mended = new Map<RuleId, number>()
  if (moves.moved() > 0) mended.set('nested-attachment', moves.moved())
  if (counts.texts > 0) mended.set('long-field', counts.texts)
  left.sort((one, other) => (one.file < other.file ? -1 : one.file > other.file ? 1 : 0))
  return {
    files: counts.files,
    mended,
    left: left.slice(0, mostLeft),
    leftCount: left.length,
    omitted: listing.omitted,
  }
}

/** An open file, with its size in bytes and its mode. */
interface OpenFile {
  descriptor: number
  size: number
  mode: number
}

/**
 * Copies an open file, as a clone where the file system can share equal data. Otherwise streams a large file, since
 * nothing can abort `copyFile`.
 */
async function copyBytes({ descriptor, size, mode }: OpenFile, to: Buffer, signal: AbortSignal): Promise<void> {
  // a file that the kernel generates as it is read has size 0, and may never have data
  if (size === 0) return writeFile(to, await readAll(descriptor), { mode })
  const name = descriptors === null ? null : `${descriptors}/${descriptor}`
  const isCopied =
    name !== null &&
    (size <= mostBytes
      ? await copyFile(name, to, constants.COPYFILE_FICLONE).then(() => true)
      : await copyFile(name, to, constants.COPYFILE_FICLONE_FORCE).then(
          () => true,
          () => false,
        ))
  if (isCopied) return chmod(to, mode)
  const source = createReadStream('', { fd: descriptor, autoClose: false, start: 0, highWaterMark: 1 << 20 })
  await pipeline(source, createWriteStream(to, { mode }), { signal })
}

/**
 * Opens a file of the directory, runs `work` on it and closes it. Throws UNAVAILABLE if it is no longer a file: nothing
 * would end a wait for a pipe's writer.
 */
async function withOpen<T>(root: string, file: ByteName, work: (file: OpenFile) => Promise<T>): Promise<T> {
  const path = pathIn(root, file)
  const replaced = (by: string): AdminError =>
    new AdminError(
      'UNAVAILABLE',
      `during the copy, ${path.toString()} was replaced by ${by}. ` +
        'Another program may still be writing to the directory',
      [typed(['ls', '-ld', asPath(path.toString())])],
    )
  let descriptor: number
  try {
    descriptor = openInside(root, path)
  } catch (error) {
    throw error instanceof LeadsOut ? replaced('a link that points outside the directory') : error
  }
  try {
    const about = fstatSync(descriptor)
    if (!about.isFile()) throw replaced('something that is not a file')
    return await work({ descriptor, size: about.size, mode: about.mode & modeBits })
  } finally {
    closeSync(descriptor)
  }
}

/** Runs `work` on all items, some at a time. A failure starts no more, and is thrown once the others have ended. */
async function each<T>(items: readonly T[], signal: AbortSignal, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  let isFailed = false
  const lane = async (): Promise<void> => {
    while (next < items.length && !isFailed) {
      signal.throwIfAborted()
      const item = items[next]!
      next += 1
      await work(item)
    }
  }
  const lanes = Array.from({ length: atOnce }, () =>
    lane().catch((error: unknown) => {
      isFailed = true
      throw error
    }),
  )
  const ended = await Promise.allSettled(lanes)
  const failed = ended.find((it) => it.status === 'rejected')
  if (failed) throw failed.reason
}
