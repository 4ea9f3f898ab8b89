import { opendirSync } from 'node:fs'
import { setImmediate as immediately } from 'node:timers/promises'
import type { Hash } from '../index/hash.ts'
import { numbers } from '../index/numbers.ts'
import { entryKind, isPassedOver } from './entry-kind.ts'
import { kindOf, leadsOut } from './inside.ts'
import type { Unopened } from './list.ts'
import { nameBlocks } from './name-blocks.ts'
import type { NameBlock } from './name-blocks.ts'

/** Contents of child directories, in which an agent looks for nothing. */
export interface Nested {
  /** paths below the directory */
  files: readonly NameBlock[]
  fileCount: number
  /** hash of each file's name without its path */
  baseHashes: Float64Array
  /** directories that hold results of their own */
  withResults: readonly { path: string; results: number }[]
  /** links out of the directory; `outsideCount` is their total number, even if not all are kept */
  outside: readonly Unopened[]
  outsideCount: number
  /** true if a part was not searched, because of a limit or because it is unreadable */
  isCut: boolean
}

/** Maximum depth, directories and files that are searched; whatever has more is a project's root, or a disk. */
const [mostDepth, mostFolders, mostFiles] = [16, 10_000, 200_000]
/** Maximum links out of the directory that are kept. */
const mostOutside = 1000

/**
 * Searches the child directories of these names, except those in `except`, which are paths below the directory. Follows
 * no links. Throws the signal's reason.
 */
export async function listNested(
  directory: string,
  folders: readonly string[],
  except: ReadonlySet<string>,
  hash: Hash,
  signal?: AbortSignal,
): Promise<Nested> {
  const [files, baseHashes] = [nameBlocks(), numbers()]
  const withResults: { path: string; results: number }[] = []
  const outside: Unopened[] = []
  const open = folders.filter((it) => !isPassedOver(it)).reverse()
  let [seen, outsideCount, isCut] = [0, 0, false]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (except.has(path)) continue
    if (seen >= mostFolders || files.length >= mostFiles) {
      isCut = true
      break
    }
    seen += 1
    const isDeep = path.split('/').length >= mostDepth
    let results = 0
    const inside: string[] = []
    try {
      const entries = opendirSync(`${directory}/${path}`, { bufferSize: 256 })
      try {
        for (let entry = entries.readSync(); entry !== null && files.length < mostFiles; entry = entries.readSync()) {
          const { name } = entry
          if (entry.isDirectory()) {
            isCut ||= isDeep
            if (!isDeep && !isPassedOver(name)) inside.push(`${path}/${name}`)
          } else if (entry.isFile()) {
            const kind = entryKind(name)
            if (kind === 'result') results += 1
            if (kind !== 'attachment') continue
            files.add(`${path}/${name}`)
            baseHashes.add(hash(name))
          } else if (entry.isSymbolicLink() && kindOf(directory, `${directory}/${path}/${name}`) === 'outside') {
            outsideCount += 1
            if (outside.length < mostOutside) outside.push({ file: `${path}/${name}`, message: leadsOut })
          }
        }
      } finally {
        entries.closeSync()
      }
    } catch {
      // it is gone, or this user may not read it, nor could an agent
      isCut = true
    }
    if (results > 0) withResults.push({ path, results })
    open.push(...inside.sort().reverse())
    await immediately()
    signal?.throwIfAborted()
  }
  return {
    files: files.blocks(),
    fileCount: files.length,
    baseHashes: baseHashes.all(),
    withResults,
    outside,
    outsideCount,
    isCut,
  }
}
