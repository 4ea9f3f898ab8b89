import * as nodeFiles from 'node:fs'
import { codeOf } from '../../core/error.ts'

/** Thrown for a link out of a results directory that would have to be followed; its code is `EOUTSIDE`. */
export class LeadsOut extends Error {
  readonly code = 'EOUTSIDE'
}

/** The message about a link out of the directory. */
export const leadsOut = 'the symbolic link points outside the directory, so it was not followed'

/** The part of `node:fs` that opening a file needs. */
type OpenFiles = Pick<typeof nodeFiles, 'openSync' | 'fstatSync' | 'closeSync'>

// a file that has become a pipe or a terminal since it was listed must not block us
const flags = nodeFiles.constants.O_RDONLY | (nodeFiles.constants.O_NONBLOCK ?? 0) | (nodeFiles.constants.O_NOCTTY ?? 0)
const noLink = nodeFiles.constants.O_NOFOLLOW ?? 0

/**
 * Opens a file of a results directory for reading, and returns its descriptor. `root` comes from the user and may be a
 * link; below it, links are followed only within it. Checks the file that was opened, so that a link put in its place
 * meanwhile gains nothing. Cannot tell a hard link from a file. Throws `LeadsOut`, and what the system throws.
 */
export function openInside(root: string, path: string | Buffer, files: OpenFiles = nodeFiles): number {
  // in the root itself, only the last part of the path can be a link
  if (noLink !== 0 && isDirectlyIn(root, path)) {
    try {
      return files.openSync(path, flags | noLink)
    } catch (error) {
      // the code for a link differs: FreeBSD has EMLINK, NetBSD EFTYPE
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
 * Returns the real path of a path in a directory. Throws `LeadsOut` if that is not below the directory, and what the
 * system throws.
 */
export function realInside(root: string, path: string | Buffer): Buffer {
  const real = realPathOf(path)
  if (!isBelow(realPathOf(root), real)) throw new LeadsOut(leadsOut)
  return real
}

/** Returns what a path in a directory leads to through its links. Looks at nothing outside the directory. */
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

/** True if `path` is `root` or below it. Both are real paths. */
function isBelow(root: Buffer, path: Buffer): boolean {
  if (path.equals(root)) return true
  const start = root.at(-1) === 0x2f ? root : Buffer.concat([root, Buffer.from('/')])
  return path.subarray(0, start.length).equals(start)
}

function isDirectlyIn(root: string, path: string | Buffer): boolean {
  const length = typeof path === 'string' ? root.length : Buffer.byteLength(root)
  return path.lastIndexOf('/') < (root.endsWith('/') ? length : length + 1)
}

/** The purpose of a file in the root of a results directory (FIELD-NOTES.md 6). */
type EntryKind =
  | 'result'
  /** names attachments as results do */
  | 'container'
  /** is expected there: no other file has to name it */
  | 'known'
  | 'attachment'

const known: ReadonlySet<string> = new Set([
  'executor.json',
  'categories.json',
  'environment.properties',
  'environment.xml',
])

export function entryKind(name: string): EntryKind {
  if (name.endsWith('.json')) {
    if (name.endsWith('-result.json')) return 'result'
    if (name.endsWith('-container.json') || name.endsWith('-globals.json')) return 'container'
  }
  return name.startsWith('.') || known.has(name) ? 'known' : 'attachment'
}

/** True for directories that are not searched for attachments: those copied in for trends, and hidden ones. */
export function isPassedOver(folder: string): boolean {
  return folder === 'history' || folder.startsWith('.')
}
