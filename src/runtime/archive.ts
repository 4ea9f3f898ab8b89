import { createReadStream, createWriteStream } from 'node:fs'
import { link, lstat, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import { noRoom, syncFolder } from '../adapters/replace-file.ts'

/** A file of an archive. */
export interface ArchivedFile {
  /** Path within the archive's one folder */
  name: string
  bytes: Buffer
}

/**
 * Writes a .tar.gz with these files in one folder, for this user alone. It appears whole or not at all; returns its
 * size in bytes. Throws REFUSED if the path exists; FORBIDDEN, UNAVAILABLE; INTERRUPTED.
 */
export async function writeArchive(
  path: string,
  { folder, files, at, signal }: { folder: string; files: readonly ArchivedFile[]; at: Date; signal: AbortSignal },
): Promise<number> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  try {
    signal.throwIfAborted()
    await removeLeft(path)
    const [tar, zip] = [pack(), createGzip()]
    const file = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true })
    // `pipeline` tells of the first error; a full disk makes more than one, and one without a listener ends the process
    const told = (): void => undefined
    tar.on('error', told)
    zip.on('error', told)
    file.on('error', told)
    const written = pipeline(tar, zip, file, { signal })
    const filled = (async () => {
      for (const { name, bytes } of files)
        await new Promise<void>((resolve, reject) => {
          const header = { name: `${folder}/${name}`, mode: 0o600, mtime: at, size: bytes.length }
          const entry = tar.entry(header, bytes, (error) => (error ? reject(error) : resolve()))
          // none once the archive has failed
          ;(entry as typeof entry | undefined)?.on('error', told)
        })
      tar.finalize()
    })()
    await Promise.all([written, Promise.race([filled, written])])
    const { size } = await lstat(part)
    await link(part, path)
    await rm(part, { force: true })
    await syncFolder(dirname(path))
    return size
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    throw signal.aborted ? new AdminError('INTERRUPTED', `${path} was not written`) : notWritten(path, error)
  }
}

/** Milliseconds after which nobody still writes a part: a report takes minutes at most */
const leftAfterMs = 3_600_000

/** Removes what killed runs have left of an archive of this name, or of reports that chose their names themselves. */
async function removeLeft(path: string): Promise<void> {
  const named = /^\.(.+)\.\d+\.part$/
  const isOurs = (name: string | undefined): boolean =>
    name !== undefined && (name === basename(path) || /^testops-report-.+\.tar\.gz$/.test(name))
  const names = await readdir(dirname(path)).catch(() => [])
  for (const name of names.filter((it) => isOurs(named.exec(it)?.[1]))) {
    const part = join(dirname(path), name)
    const found = await lstat(part).catch(() => null)
    const isOwn = found?.isFile() === true && found.uid === process.getuid?.()
    if (isOwn && Date.now() - found.mtimeMs > leftAfterMs) await rm(part, { force: true }).catch(() => undefined)
  }
}

/** Throws REFUSED if the path exists: for a check before the work. */
export async function assertNew(path: string): Promise<void> {
  if (await lstat(path).catch(() => null)) throw exists(path)
}

const exists = (path: string): AdminError =>
  new AdminError('REFUSED', `${path} exists already`, [typed(['ls', '-l', path])])

function notWritten(path: string, error: unknown): AdminError {
  if (error instanceof AdminError) return error
  const code = codeOf(error)
  if (code === 'EEXIST') return exists(path)
  const [why, look] = noRoom(path, error) ?? [
    code === 'ENOENT' ? 'its folder does not exist' : messageOf(error),
    typed(['ls', '-ld', dirname(path)]),
  ]
  return new AdminError(
    ['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') ? 'FORBIDDEN' : 'UNAVAILABLE',
    `cannot write ${path}: ${why}`,
    [look],
    { cause: error },
  )
}

/** Bytes that an archive may unpack to, all its files together */
const mostUnpacked = 1_000_000_000
const mostFiles = 10_000
const longestName = 200

/**
 * Reads files of a .tar.gz. `wanted` says how many bytes a file of that name may have; null if it is not to be read.
 * Keeps nothing on disk. Throws USAGE for what is no such archive, is cut off, leads out of its folder or is too
 * large; UNAVAILABLE, FORBIDDEN if it cannot be read.
 */
export async function readArchive(
  path: string,
  wanted: (name: string) => number | null,
  signal?: AbortSignal,
): Promise<{ read: ReadonlyMap<string, Buffer>; listed: readonly { name: string; bytes: number }[] }> {
  const read = new Map<string, Buffer>()
  const listed: { name: string; bytes: number }[] = []
  let unpacked = 0
  const tar = extract()
  tar.on('error', () => undefined)
  const taken = (async () => {
    for await (const entry of tar) {
      const { header } = entry
      const name = nameIn(header.name, header.type ?? 'file')
      if (listed.length >= mostFiles) throw new Bad(`holds more than ${mostFiles} files`)
      const most = name === null ? null : wanted(name)
      if (name !== null) {
        if (listed.some((it) => it.name === name)) throw new Bad(`holds ${name} twice`)
        listed.push({ name, bytes: header.size ?? 0 })
        if (most !== null && (header.size ?? 0) > most)
          throw new Bad(`holds a file ${name} of ${header.size} bytes: at most ${most} are read`)
      }
      const blocks: Buffer[] = []
      for await (const block of entry as AsyncIterable<Buffer>) if (most !== null) blocks.push(block)
      if (name !== null && most !== null) read.set(name, Buffer.concat(blocks))
    }
  })()
  const bounded = async function* (blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const block of blocks) {
      unpacked += block.length
      if (unpacked > mostUnpacked) throw new Bad(`unpacks to more than ${mostUnpacked / 1e9} GB`)
      yield block
    }
  }
  const [file, gunzip] = [createReadStream(path), createGunzip()]
  try {
    await Promise.all([pipeline(file, gunzip, bounded, tar, signal ? { signal } : {}), taken])
    // zlib stops at zeros after the end: with an error only if more was still to be read
    if (gunzip.bytesWritten < file.bytesRead) throw new Bad(goesOn)
    return { read, listed }
  } catch (error) {
    taken.catch(() => undefined)
    if (codeOf(error) === 'ABORT_ERR' && !signal?.aborted) throw unreadable(path, new Bad(goesOn), signal)
    throw unreadable(path, error, signal)
  }
}

const goesOn = 'goes on after its end: copy it again'

/** What is wrong with an archive, without its name. */
class Bad extends Error {}

/** Returns a file's name within the archive's one folder; null: it is a folder. Throws for what may lead out of it. */
function nameIn(full: string, type: string): string | null {
  const shown = JSON.stringify(full.slice(0, 100))
  if (type !== 'file' && type !== 'contiguous-file' && type !== 'directory')
    throw new Bad(`holds ${shown}, which is neither a file nor a folder`)
  const parts = full.replace(/\/$/, '').split('/')
  const isPlain =
    full.length <= longestName && parts.every((part) => /^[\w@+=:,.-]+$/.test(part) && !/^\.\.?$/.test(part))
  if (!isPlain) throw new Bad(`holds a file whose name is not allowed: ${shown}`)
  return type === 'directory' ? null : parts.slice(1).join('/')
}

function unreadable(path: string, error: unknown, signal: AbortSignal | undefined): AdminError {
  if (signal?.aborted) return new AdminError('INTERRUPTED', 'interrupted')
  const code = codeOf(error)
  const how: readonly Suggestion[] = [typed(['ls', '-l', path]), 'testops-admin report --help']
  if (error instanceof Bad) return new AdminError('USAGE', `${path} ${error.message}`, how)
  if (code === 'EACCES' || code === 'EPERM')
    return new AdminError('FORBIDDEN', `this user has no permission to read ${path}`, how, { cause: error })
  if (code === 'ENOENT' || code === 'ENOTDIR') return new AdminError('USAGE', `${path} does not exist`, how)
  if (code === 'EISDIR') return new AdminError('USAGE', `${path} is a folder, not an archive`, how)
  if (code === 'Z_BUF_ERROR' || /unexpected end of (?:file|data)/i.test(messageOf(error)))
    return new AdminError('USAGE', `${path} is cut off: copy it again`, how, { cause: error })
  // what the system says has a call; all else is about the content
  if (!(error instanceof Error && 'syscall' in error))
    return new AdminError(
      'USAGE',
      `${path} is not an archive that \`testops-admin report\` made, or it is damaged`,
      how,
      {
        cause: error,
      },
    )
  return new AdminError('UNAVAILABLE', `cannot read ${path}: ${messageOf(error)}`, how, { cause: error })
}
