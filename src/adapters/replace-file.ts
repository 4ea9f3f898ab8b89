import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { access, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import { typed } from '../core/typed.ts'

/**
 * Replaces what a file holds in one step, synced, under the same mode and owner: who reads it, and who finds it after a
 * crash, has the old or the new. False where it does not hold `from` (null: is missing) any more. `path` is no link.
 * Throws FORBIDDEN, UNAVAILABLE.
 */
export async function replaceFile(path: string, { from, to }: { from: Buffer | null; to: Buffer }): Promise<boolean> {
  // what a process that was killed left behind is taken over
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

/** Throws FORBIDDEN, UNAVAILABLE where `replaceFile` would, as far as that shows without trying. */
export async function assertReplaceable(path: string): Promise<void> {
  try {
    const before = await statOf(path)
    if (before) await access(path, constants.W_OK)
    await access(dirname(path), constants.W_OK)
    // what replaces it is to be its owner's
    const self = process.geteuid?.() ?? 0
    if (before && self !== 0 && before.uid !== self) throw Object.assign(new Error('not its owner'), { code: 'EPERM' })
  } catch (error) {
    throw notReplaced(path, error)
  }
}

/** A file that is not there yet, on disk when it returns; `like`: the one whose owner and mode it gets. */
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

/** A new name is on disk only once its folder is. */
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
