import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { access, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import { typed } from '../core/typed.ts'

/**
 * Replaces the content of a file in one step, synced, with the same mode and owner. Readers, even after a crash, find
 * the old or the new content. Returns false if it no longer holds `from` (null: is missing). `path` must not be a link.
 * Throws FORBIDDEN, UNAVAILABLE.
 */
export async function replaceFile(path: string, { from, to }: { from: Buffer | null; to: Buffer }): Promise<boolean> {
  // a killed process may have left this file behind: it is replaced
  const next = join(dirname(path), `.${basename(path)}.testops-admin.new`)
  try {
    const before = await statOf(path)
    if (before) await access(path, constants.W_OK)
    await rm(next, { force: true })
    await writeSynced(next, to, before)
    const current = await readFile(path).catch(nullIfMissing)
    const isAsSeen = current === null || from === null ? current === from : current.equals(from)
    if (!isAsSeen) {
      await rm(next, { force: true })
      return false
    }
    await rename(next, path)
    await syncFolder(dirname(path))
    return true
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw notReplaced(path, error)
  }
}

/** Throws FORBIDDEN, UNAVAILABLE if `replaceFile` would, as far as that shows without trying. */
export async function assertReplaceable(path: string): Promise<void> {
  try {
    const before = await statOf(path)
    if (before) await access(path, constants.W_OK)
    await access(dirname(path), constants.W_OK)
    // the new file must belong to the same owner
    const self = process.geteuid?.() ?? 0
    if (before && self !== 0 && before.uid !== self) throw Object.assign(new Error('not its owner'), { code: 'EPERM' })
  } catch (error) {
    throw notReplaced(path, error)
  }
}

/** Creates a missing file, on disk on return. It gets the owner and mode of `like`, if given. */
export async function writeSynced(path: string, bytes: Buffer | string, like: Stats | null = null): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    if (like) {
      const own = await file.stat()
      if (own.uid !== like.uid || own.gid !== like.gid) await file.chown(like.uid, like.gid)
      await file.chmod(like.mode & 0o7777)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Syncs a folder: a new name is on disk only once its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch(nullIfMissing)
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null
  throw error
}

function notReplaced(path: string, cause: unknown): AdminError {
  const code = codeOf(cause)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const why = code === 'EROFS' ? 'its file system is read-only' : 'this user may not write it, or its folder'
    return new AdminError(
      'FORBIDDEN',
      `${path} cannot be changed: ${why}`,
      [typed(['ls', '-ld', dirname(path), path]), 'run this with sudo'],
      {
        cause,
      },
    )
  }
  return new AdminError(
    'UNAVAILABLE',
    `${path} cannot be changed: ${messageOf(cause)}`,
    [typed(['ls', '-ld', dirname(path), path])],
    { cause },
  )
}
