import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { constants, existsSync } from 'node:fs'
import { access, lstat, mkdir, open, readFile, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Server } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import type { ShellCommand } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import { hasEnded, markOf, socketLock } from './process-identity.ts'

/** Milliseconds that another process may take to replace the same file */
const patienceMs = 10_000

/**
 * Replaces the content of a file in one step, synced, with the same mode and owner. Readers, even after a crash, find
 * the old or the new content. Returns false if it no longer holds `from` (null: is missing). Of several processes of
 * this account on this machine, one at a time does it. `path` must not be a link. Throws FORBIDDEN, UNAVAILABLE.
 */
export async function replaceFile(path: string, change: { from: Buffer | null; to: Buffer }): Promise<boolean> {
  const lock = await turnAt(path)
  try {
    return await replaceInTurn(path, change)
  } finally {
    lock?.close()
  }
}

/** Returns the lock of a file; null: this system has none. */
async function turnAt(path: string): Promise<Server | null> {
  if (process.platform !== 'linux') return null
  const folder = await realpath(dirname(path)).catch(() => dirname(path))
  const deadline = Date.now() + patienceMs
  for (;;) {
    const lock = await socketLock(`replace ${join(folder, basename(path))}`).catch((error: unknown) => {
      throw notReplaced(path, error)
    })
    if (lock) return lock
    if (Date.now() > deadline)
      throw notReplaced(path, new Error(`another process has been replacing it for ${patienceMs / 1000} s`))
    await sleep(20)
  }
}

async function replaceInTurn(path: string, { from, to }: { from: Buffer | null; to: Buffer }): Promise<boolean> {
  const next = await nextOf(path)
  try {
    const before = await statOf(path)
    if (before) await access(path, constants.W_OK)
    await writeSynced(next, to, before)
    const current = await readFile(path).catch(nullIfMissing)
    const isAsSeen = current === null || from === null ? current === from : current.equals(from)
    if (!isAsSeen) {
      await rm(next, { force: true })
      return false
    }
    await rename(next, path)
    // a folder that may be written, but not read, cannot be synced: the file is replaced all the same
    await syncFolder(dirname(path)).catch((error: unknown) => {
      if (codeOf(error) !== 'EACCES') throw error
    })
    return true
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw notReplaced(path, error)
  }
}

/** Milliseconds after which a file is a leftover if it is not known whether its process runs, as in a container */
const oldMs = 3_600_000
/** Names that are looked at, at most: others may have made them */
const mostLeft = 200

/**
 * Returns a name in the same folder for what is to replace a file: no other process uses it. Removes what killed
 * processes left there for that file.
 */
export async function nextOf(path: string): Promise<string> {
  const folder = dirname(path)
  // the file's own name may be as long as names can be
  const prefix = `.${[...basename(path)].slice(0, 40).join('')}.testops-admin-`
  const ofFormerVersions = `.${basename(path)}.testops-admin.new`
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((it) => it === ofFormerVersions || (it.startsWith(prefix) && it.endsWith('.new')))
  for (const name of left.slice(0, mostLeft)) {
    const [, mark = ''] = /^(.*)-[\da-f]{8}\.new$/.exec(name.slice(prefix.length)) ?? []
    const isLeft = name === ofFormerVersions || ((await hasEnded(mark)) ?? (await isOld(join(folder, name))))
    if (isLeft) await rm(join(folder, name), { force: true }).catch(() => undefined)
  }
  const mark = await markOf(process.pid).catch(() => 'unknown')
  return join(folder, `${prefix}${mark}-${randomBytes(4).toString('hex')}.new`)
}

async function isOld(path: string): Promise<boolean> {
  const about = await lstat(path).catch(() => null)
  return about !== null && Date.now() - about.mtimeMs > oldMs
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

/** Returns what a system error says of a file that could not be written: FORBIDDEN or UNAVAILABLE. */
export function notReplaced(path: string, cause: unknown): AdminError {
  const code = codeOf(cause)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const isReadOnly = code === 'EROFS'
    const why = isReadOnly
      ? 'its file system is read-only'
      : 'this user has no permission to write the file or its folder'
    return new AdminError(
      'FORBIDDEN',
      `${path} cannot be changed: ${why}`,
      isReadOnly
        ? [typed(['findmnt', '-T', dirname(path)])]
        : [typed(['ls', '-ld', dirname(path), path]), 'run the same command with sudo'],
      { cause },
    )
  }
  const said = code === 'ENOENT' && !existsSync(dirname(path)) ? 'its folder does not exist' : messageOf(cause)
  const [why, look] = noRoom(path, cause) ?? [said, typed(['ls', '-ld', dirname(path), path])]
  return new AdminError('UNAVAILABLE', `${path} cannot be changed: ${why}`, [look], { cause })
}

/** Returns why a file found no room, and what shows it; null: that is not why it could not be written. */
export function noRoom(path: string, cause: unknown): readonly [why: string, look: ShellCommand] | null {
  const code = codeOf(cause)
  if (code === 'ENOSPC') return ['the disk is full', typed(['df', '-H', dirname(path)])]
  return code === 'EDQUOT' ? ['the disk quota is used up', command`quota -s`] : null
}

/**
 * Makes a folder and its missing parents, for this user alone. Returns the topmost that it made; undefined if the
 * folder exists. Throws system errors. Goes step by step: if nothing can be made at all, as in /proc, Node's
 * `recursive` never ends.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    const above = dirname(path)
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    const topmost = await makeFolder(above)
    // another process may have made it since
    await mkdir(path, { mode: 0o700 }).catch(async (again: unknown) => {
      if (codeOf(again) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw again
    })
    return topmost ?? path
  }
}

const mostLinks = 40

/**
 * Returns the path to write to when `path` is edited: a link stays, and its target is written. Throws REFUSED if a link
 * belongs to someone other than this user, root, or the owner of the target. That user could choose which file this
 * program writes. Throws system errors.
 */
export async function editedAt(path: string): Promise<string> {
  const real = await realpath(path)
  const target = await lstat(real)
  const ours = [0, process.geteuid?.() ?? 0, target.uid]
  let at = path
  for (let count = 0; count < mostLinks; count += 1) {
    const about = await lstat(at)
    if (!about.isSymbolicLink()) break
    if (!ours.includes(about.uid)) {
      throw new AdminError(
        'REFUSED',
        `user ${about.uid} owns the symbolic link ${at}, but not its target ${real}. The target was not changed`,
        [
          typed(['ls', '-l', at, real]),
          command`chown -h root ${at}   # only if the link is intended: makes root the owner of the link`,
        ],
      )
    }
    at = resolve(dirname(at), await readlink(at))
  }
  return real
}
