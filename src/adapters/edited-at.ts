import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { command } from '../core/shell-command.ts'

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
        [typed(['ls', '-l', at, real]), command`chown -h root ${at}   # if the link is intended`],
      )
    }
    at = resolve(dirname(at), await readlink(at))
  }
  return real
}
