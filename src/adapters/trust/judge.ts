import { fstatSync, lstatSync, readlinkSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { flawOf, ownCircle } from './circle.ts'
import type { Circle, Entry, Flaw } from './circle.ts'

/** What is known about who may change a file or folder. */
export interface Judgement {
  /** Path without symbolic links; null if it is missing */
  place: string | null
  /** Empty if only this user and root can change what it holds, or what its name leads to */
  flaws: readonly Flaw[]
}

/**
 * Judges an open file by its descriptor, and the way on which its name led there: each folder from the root on, and
 * each symbolic link. What is read from the descriptor afterwards is what was judged. Throws system errors.
 */
export function judgeOpened(path: string, descriptor: number, circle = ownCircle()): Judgement {
  return judge(path, fstatSync(descriptor), circle)
}

/**
 * Judges a folder, or a file that another program is going to open, in the same way. If it is missing, judges what
 * exists of the way to it.
 */
export function judgePath(path: string, circle = ownCircle()): Judgement {
  return judge(path, null, circle)
}

/** as Linux has it (path_resolution(7)) */
const mostLinks = 40

/** Judges `path`, which is absolute. `opened` has the facts of the descriptor, if there is one. */
function judge(path: string, opened: Stats | null, circle: Circle | null): Judgement {
  if (circle === null) return { place: path, flaws: [] }
  const flaws = new Map<string, Flaw>()
  const look = (at: string, role: Entry['role'], stats: Stats): void => {
    const flaw = flawOf(
      { path: at, role, isFolder: stats.isDirectory(), uid: stats.uid, gid: stats.gid, mode: stats.mode },
      circle,
    )
    if (flaw) flaws.set(at, flaw)
  }
  let place = '/'
  let found = lstatSync(place)
  let links = 0
  const rest = path.split('/')
  for (;;) {
    const name = rest.shift()
    if (name === undefined) break
    if (name === '' || name === '.') continue
    look(place, 'folder', found)
    if (name === '..') {
      place = dirname(place)
      found = lstatSync(place)
      continue
    }
    const next = join(place, name)
    const stats = lstatIfThere(next)
    if (stats === null) {
      if (opened) flaws.set(path, { path, role: 'target', isFolder: false, why: 'replaced' })
      return { place: null, flaws: [...flaws.values()] }
    }
    if (!stats.isSymbolicLink()) {
      place = next
      found = stats
      continue
    }
    look(next, 'link', stats)
    if ((links += 1) > mostLinks)
      throw Object.assign(new Error(`ELOOP: too many symbolic links, ${path}`), { code: 'ELOOP' })
    const to = readlinkSync(next)
    if (to.startsWith('/')) {
      place = '/'
      found = lstatSync(place)
    }
    rest.unshift(...to.split('/'))
  }
  look(place, 'target', opened ?? found)
  if (opened && (opened.dev !== found.dev || opened.ino !== found.ino))
    flaws.set(path, { path, role: 'target', isFolder: false, why: 'replaced' })
  return { place, flaws: [...flaws.values()] }
}

/** error codes of a path that leads nowhere; the last two are of a path that no file can have */
const leadsNowhere = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

/** Returns null if the path is missing, or if a file is where a folder should be. */
function lstatIfThere(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (leadsNowhere.includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}
