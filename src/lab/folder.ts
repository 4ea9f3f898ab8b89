import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AdminError, codeOf } from '../core/error.ts'
import { asPath, command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/**
 * Makes a folder of 0700, and those above it. Throws what the system throws; `mkdir` with `recursive` never ends below
 * /proc.
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

/** Whether a disk that has no room kept something from being written. */
export function isNoRoom(error: unknown): boolean {
  return noRoom.includes(codeOf(error) ?? '')
}

const noRoom = ['ENOSPC', 'EDQUOT']

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'its file system is read-only',
  EEXIST: 'there is a file in its place',
  ENOTDIR: 'there is a file in the place of a folder',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'no folder can be made there',
  EIO: 'its disk fails',
}

/** What kept the lab's folder from being read or written, as the operator's error; anything else as it is. */
export function folderFailure(error: unknown, root: string): unknown {
  const reason = reasons[codeOf(error) ?? '']
  const { path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof AdminError || reason === undefined || syscall === undefined || !file.test(syscall)) return error
  // writing to an open file names none
  const where = path === undefined || path === root ? '' : ` (${path})`
  const hints: Suggestion[] = isNoRoom(error)
    ? [
        command`df -h ${asPath(root)}`,
        'make room there, then try again',
        'testops-admin lab down   # gives back what the lab takes',
      ]
    : [command`ls -ld ${asPath(root)}`, 'export TESTOPS_ADMIN_LAB_DIR=…   # a folder that you may write to']
  return new AdminError('UNAVAILABLE', `the lab's folder ${root} cannot be used: ${reason}${where}`, hints, {
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
