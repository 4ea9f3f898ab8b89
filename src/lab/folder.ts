import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AdminError, codeOf } from '../core/error.ts'
import { asPath, command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/**
 * Makes a folder and its missing parents, with mode 0700. Throws the system's error. Avoids `mkdir` with `recursive`,
 * which never returns below /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return
    const above = dirname(path)
    if (codeOf(error) !== 'ENOENT' || above === path || (await isFolder(above))) throw error
    await makeFolder(above)
    await makeFolder(path)
  }
}

/** True if a write failed because the disk is full. */
export function isNoRoom(error: unknown): boolean {
  return noRoom.includes(codeOf(error) ?? '')
}

const noRoom = ['ENOSPC', 'EDQUOT']

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'there is a file where a folder should be',
  ENOTDIR: 'there is a file where a folder should be',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'a folder cannot be made there',
  EIO: 'the disk fails',
}

/**
 * Turns a failure to read or write the lab's folder into UNAVAILABLE, for the operator. Returns any other error
 * unchanged.
 */
export function folderFailure(error: unknown, root: string): unknown {
  const reason = reasons[codeOf(error) ?? '']
  const { path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof AdminError || reason === undefined || syscall === undefined || !file.test(syscall)) return error
  // an error from writing to an open file has no path
  const where = path === undefined || path === root ? '' : ` (${path})`
  const hints: Suggestion[] = isNoRoom(error)
    ? [
        command`df -h ${asPath(root)}`,
        'make room there, then try again',
        'testops-admin lab down   # frees the disk space of the lab',
      ]
    : [command`ls -ld ${asPath(root)}`, 'export TESTOPS_ADMIN_LAB_DIR=…   # a folder that you can write to']
  return new AdminError('UNAVAILABLE', `cannot use the lab's folder ${root}: ${reason}${where}`, hints, {
    cause: error,
  })
}

/** system calls on files */
const file =
  /^(access|chmod|chown|copyfile|f?sync|fdatasync|fstat|link|lstat|mkdir|open|read|readlink|rename|rmdir|scandir|stat|symlink|unlink|write)$/

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  )
}
