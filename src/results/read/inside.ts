import * as nodeFiles from 'node:fs'
import { codeOf } from '../../core/error.ts'

/** What a link out of a results directory throws where it would have to be followed; its code is `EOUTSIDE`. */
export class LeadsOut extends Error {
  readonly code = 'EOUTSIDE'
}

/** What people are told of a link out of the directory. */
export const leadsOut = 'is a symbolic link that leads out of the directory, and was not followed'

/** What opening needs of `node:fs`. */
export type OpenFiles = Pick<typeof nodeFiles, 'openSync' | 'fstatSync' | 'closeSync'>

// what became a pipe or a terminal since it was listed does not hold us up
const flags = nodeFiles.constants.O_RDONLY | (nodeFiles.constants.O_NONBLOCK ?? 0) | (nodeFiles.constants.O_NOCTTY ?? 0)
const noLink = nodeFiles.constants.O_NOFOLLOW ?? 0

/**
 * Opens a file of a results directory for reading, and returns its descriptor. `root` is the user's own word and may be
 * a link; below it, links are followed within it alone. That is judged by what was opened, so that a link that is put
 * in its place meanwhile gains nothing. A hard link cannot be told from a file. Throws `LeadsOut`, and what the system
 * throws.
 */
export function openInside(root: string, path: string | Buffer, files: OpenFiles = nodeFiles): number {
  // whatever lies in the root itself is a link only by its own name
  if (noLink !== 0 && isDirectlyIn(root, path)) {
    try {
      return files.openSync(path, flags | noLink)
    } catch (error) {
      // systems differ in what they say of a link: FreeBSD has EMLINK, NetBSD EFTYPE
      if (!['ELOOP', 'EMLINK', 'EFTYPE'].includes(codeOf(error) ?? '')) throw error
    }
  }
  const real = realInside(root, path)
  const descriptor = files.openSync(real, flags | noLink)
  try {
    // a folder on the way may have become a link meanwhile
    const opened = files.fstatSync(descriptor)
    const there = nodeFiles.lstatSync(real)
    if (opened.ino !== there.ino || opened.dev !== there.dev || !realPathOf(real).equals(real))
      throw new LeadsOut(leadsOut)
    return descriptor
  } catch (error) {
    files.closeSync(descriptor)
    throw error
  }
}

/**
 * Where a path of a directory really is. Throws `LeadsOut` where that is not below the directory, and what the system
 * throws.
 */
export function realInside(root: string, path: string | Buffer): Buffer {
  const real = realPathOf(path)
  if (!isBelow(realPathOf(root), real)) throw new LeadsOut(leadsOut)
  return real
}

/** What a path of a directory leads to by its links; nothing outside of the directory is looked at. */
export function kindOf(root: string, path: string | Buffer): 'file' | 'folder' | 'special' | 'outside' | 'nowhere' {
  try {
    const found = nodeFiles.statSync(realInside(root, path))
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'special'
  } catch (error) {
    return error instanceof LeadsOut ? 'outside' : 'nowhere'
  }
}

function realPathOf(path: string | Buffer): Buffer {
  return nodeFiles.realpathSync.native(path, { encoding: 'buffer' })
}

/** Both as they really are; a directory is below itself. */
function isBelow(root: Buffer, path: Buffer): boolean {
  if (path.equals(root)) return true
  const start = root.at(-1) === 0x2f ? root : Buffer.concat([root, Buffer.from('/')])
  return path.subarray(0, start.length).equals(start)
}

function isDirectlyIn(root: string, path: string | Buffer): boolean {
  const length = typeof path === 'string' ? root.length : Buffer.byteLength(root)
  return path.lastIndexOf('/') < (root.endsWith('/') ? length : length + 1)
}
