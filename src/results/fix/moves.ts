import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { kindOf } from '../read/inside.ts'
import { fileNameOf, shownName } from '../read/name-blocks.ts'
import type { Moved } from './mend.ts'

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
function sourceOf(name: ByteName): string {
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
        return 'a symbolic link that points outside the directory'
      case 'nowhere':
        return 'a broken symbolic link'
    }
  }
  if (entry.isFIFO()) return 'a pipe, not a file'
  if (entry.isSocket()) return 'a socket, not a file'
  return 'a device, not a file'
}

/** Decides which files of subdirectories go to the root, and under which names. */
interface Moves {
  /** returns what becomes of a `source`; gives the file that it names a place in the root */
  move: (source: string) => Moved
  /** makes a name in the root that no other file has or gets */
  newName: (extension: string) => string
  /** returns where to copy a file; call it once `move` has seen all sources */
  destinations: (file: ByteName) => ByteName[]
  /** number of moved files, plus corrected sources of files that are already in the root */
  moved: () => number
}

/** Names with a meaning in the root, which no attachment may get. */
const reserved =
  /^\.|-(?:result|container|globals)\.json$|^(?:executor|categories)\.json$|^environment\.(?:properties|xml)$/

/** Plans the moves of a listing's files. `root`: the directory's real path, for absolute sources. */
export function movesIn({ files }: Listing, root: string): Moves {
  const all = new Set(files)
  const nested = files.filter((file) => file.includes('/'))
  // separate results directories, whose attachments stay where they are; `history` belongs to the report
  const homes = new Set(nested.filter((file) => file.endsWith('-result.json')).map((file) => posix.dirname(file)))
  const isMovable = (file: ByteName): boolean => !homes.has(posix.dirname(file)) && !file.startsWith('history/')
  const byBase = new Map<ByteName, ByteName[]>()
  for (const file of nested.filter(isMovable)) {
    const alike = byBase.get(posix.basename(file))
    if (alike) alike.push(file)
    else byBase.set(posix.basename(file), [file])
  }
  const taken = new Set(files.filter((file) => !file.includes('/')))
  const places = new Map<ByteName, ByteName>()

  let corrected = 0
  const newName = (extension: string): string => {
    let name: string
    do name = `${randomUUID()}-attachment${extension}`
    while (taken.has(name))
    taken.add(name)
    return name
  }
  const place = (file: ByteName): ByteName => {
    const known = places.get(file)
    if (known !== undefined) return known
    const base = posix.basename(file)
    const isFree = !taken.has(base) && !reserved.test(base)
    const name = isFree ? base : newName(posix.extname(base))
    taken.add(name)
    places.set(file, name)
    return name
  }
  const move = (source: string): Moved => {
    const path = source.replaceAll('\\', '/')
    const base = posix.basename(path)
    const isBare = !path.includes('/')
    if (isBare && all.has(byteName(source))) return null
    const named = isBare ? null : within(path, root)
    const direct = named === null ? '' : byteName(named)
    const inRoot = [direct, byteName(base)].find((it) => !it.includes('/') && all.has(it))
    if (direct.includes('/') && all.has(direct)) return { to: sourceOf(place(direct)) }
    if (!isBare && inRoot !== undefined) {
      corrected += 1
      return { to: sourceOf(inRoot) }
    }
    const alike = byBase.get(byteName(base)) ?? []
    if (alike.length > 1)
      return {
        why: `several files in subdirectories have the name ${base}: cannot tell which of them is the attachment`,
      }
    if (alike.length === 1) {
      const to = sourceOf(place(alike[0]!))
      return to === source ? null : { to }
    }
    return isBare
      ? null
      : {
          why:
            named === null
              ? 'the attachment refers to a file outside the results directory'
              : 'the attachment refers to a missing file',
        }
  }
  return {
    move,
    newName,
    destinations(file) {
      if (!file.includes('/')) return [file]
      if (isMovable(file) && (places.has(file) || posix.basename(file).includes('-attachment'))) return [place(file)]
      const named = places.get(file)
      return named === undefined ? [file] : [file, named]
    },
    moved: () => places.size + corrected,
  }
}

/** Returns the path below the directory; null if it leads out of it. */
function within(path: string, root: string): string | null {
  const inside = path.startsWith('/') ? posix.relative(root, path) : posix.normalize(path)
  return inside === '..' || inside.startsWith('../') || inside.startsWith('/') || /^[A-Za-z]:/.test(inside)
    ? null
    : inside
}
