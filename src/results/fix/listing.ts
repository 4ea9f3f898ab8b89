import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { fileNameOf, shownName } from '../read/file-name.ts'
import { kindOf } from '../read/inside.ts'

/** A file name as its bytes on disk, one character for each, since not all names are UTF-8. */
export type ByteName = string

/** Files to copy, relative to the directory, and entries that are left out. */
export interface Listing {
  files: ByteName[]
  omitted: { file: string; message: string }[]
}

/** Maximum depth of directories; no results directory is deeper. */
const deepest = 32

export function byteName(text: string): ByteName {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Returns the name as a `source` writes it. */
export function sourceOf(name: ByteName): string {
  return Buffer.from(name, 'latin1').toString('utf8')
}

/** Returns the name as it is shown, with bytes that are not UTF-8 as \xNN. */
export function shown(name: ByteName): string {
  return shownName(fileNameOf(Buffer.from(name, 'latin1')))
}

export function pathIn(root: string, name: ByteName): Buffer {
  return Buffer.from(`${byteName(root)}/${name}`, 'latin1')
}

/**
 * Lists all files below a directory. Links to files in it count as files; links to directories, and out of it, are not
 * followed.
 */
export async function listingOf(root: string): Promise<Listing> {
  const listing: Listing = { files: [], omitted: [] }
  const open: { folder: ByteName; depth: number }[] = [{ folder: '', depth: 0 }]
  for (let it = open.pop(); it; it = open.pop()) {
    const { folder, depth } = it
    for (const entry of await readdir(pathIn(root, folder), { withFileTypes: true, encoding: 'latin1' })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      const kind = toCopy(root, name, entry)
      if (kind === 'file') listing.files.push(name)
      else if (kind !== 'folder') listing.omitted.push({ file: shown(name), message: kind })
      else if (depth === deepest)
        listing.omitted.push({ file: shown(name), message: `deeper than ${deepest} directories` })
      else open.push({ folder: name, depth: depth + 1 })
    }
  }
  return listing
}

/** Returns `file`, `folder`, or the reason why the entry is not copied. */
function toCopy(root: string, name: ByteName, entry: Dirent): string {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) {
    switch (kindOf(root, pathIn(root, name))) {
      case 'file':
        return 'file'
      case 'folder':
        return 'a symbolic link to a directory'
      case 'special':
        return 'a symbolic link to something that is not a file'
      case 'outside':
        return 'a symbolic link that leads out of the directory, and was not followed'
      case 'nowhere':
        return 'a symbolic link that leads nowhere'
    }
  }
  if (entry.isFIFO()) return 'a pipe, not a file'
  if (entry.isSocket()) return 'a socket, not a file'
  return 'a device, not a file'
}
