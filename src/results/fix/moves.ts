import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import { byteName, sourceOf } from './listing.ts'
import type { ByteName, Listing } from './listing.ts'
import type { Moved } from './mend.ts'

/** Decides which files of child directories go to the root, and under which names. */
export interface Moves {
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
      return { why: `several files in child directories are called ${base}: cannot tell which one is meant` }
    if (alike.length === 1) {
      const to = sourceOf(place(alike[0]!))
      return to === source ? null : { to }
    }
    return isBare
      ? null
      : { why: named === null ? 'it names a file outside the directory' : 'the file that it names is missing' }
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
