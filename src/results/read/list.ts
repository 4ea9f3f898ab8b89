import type { Dirent } from 'node:fs'
import { opendirSync } from 'node:fs'
import { setImmediate as immediately } from 'node:timers/promises'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { Hash } from '../index/numbers.ts'
import { numbers } from '../index/numbers.ts'
import { entryKind, isPassedOver, kindOf, leadsOut } from './inside.ts'
import type { NameBlock } from './name-blocks.ts'
import { fileNameOf, nameBlocks, pathOf, shownName } from './name-blocks.ts'

/** Contents of the root of a results directory. */
export interface Listing {
  /** the directory as given */
  directory: string
  state: 'there' | 'missing' | 'not-a-directory'
  results: readonly NameBlock[]
  resultCount: number
  containers: readonly NameBlock[]
  containerCount: number
  /** files that a result or a container has to name */
  attachments: readonly NameBlock[]
  attachmentHashes: Float64Array
  /** files that no other file has to name */
  known: readonly string[]
  folders: readonly string[]
  /** true if there are more of them, or some whose names are not UTF-8 */
  areFoldersCut: boolean
  /** entries that are not opened, and why: neither files nor directories, or links out of the directory */
  special: readonly Unopened[]
  /** total number of these, even if not all are kept */
  specialCount: number
}

/** An entry that is not opened, by its path below the directory. */
interface Unopened {
  file: string
  message: string
}

const notAFile = 'the entry is not a file or directory, so it was not opened'

/** Number of entries read from the system at once, and handled before other work gets its turn. */
const [atOnce, beforeTurn] = [1024, 8192]
/** Maximum names of directories and of known files, and maximum unopened entries, that are kept. */
const [mostNames, mostUnopened] = [10_000, 1000]

/**
 * Lists a results directory. Symbolic links count as what they lead to within the directory, except links to
 * directories. Throws FORBIDDEN and UNREACHABLE if the directory cannot be listed, and the signal's reason.
 */
export async function listDirectory(directory: string, hash: Hash, signal?: AbortSignal): Promise<Listing> {
  try {
    return (await listed(directory, 'utf8', hash, signal)) ?? (await listed(directory, 'buffer', hash, signal))!
  } catch (error) {
    const state = stateBy(error)
    if (state === null) throw signal?.aborted === true ? error : notListed(directory, error)
    return { directory, state, ...nothing }
  }
}

const nothing = {
  results: [],
  resultCount: 0,
  containers: [],
  containerCount: 0,
  attachments: [],
  attachmentHashes: new Float64Array(),
  known: [],
  folders: [],
  areFoldersCut: false,
  special: [],
  specialCount: 0,
} as const

/** Lists the directory. Returns null if a name is not UTF-8: then names have to be read as bytes. */
async function listed(
  directory: string,
  encoding: 'utf8' | 'buffer',
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<Listing | null> {
  const [results, containers, attachments, hashes] = [nameBlocks(), nameBlocks(), nameBlocks(), numbers()]
  const [known, folders]: string[][] = [[], []]
  const special: Unopened[] = []
  let [areFoldersCut, specialCount] = [false, 0]
  const unopened = (file: string, message: string): void => {
    specialCount += 1
    if (special.length < mostUnopened) special.push({ file, message })
  }
  // its types do not allow names as bytes
  const open = opendirSync(directory, { encoding: encoding as BufferEncoding, bufferSize: atOnce })
  try {
    for (let count = 1; ; count += 1) {
      const entry = open.readSync()
      if (entry === null) break
      const name = Buffer.isBuffer(entry.name) ? fileNameOf(entry.name) : entry.name
      if (encoding === 'utf8' && entry.name.includes('\ufffd')) return null
      const text = shownName(name)
      switch (typeOf(entry, directory, pathOf(directory, name))) {
        case 'file':
          switch (entryKind(text)) {
            case 'result':
              results.add(name)
              break
            case 'container':
              containers.add(name)
              break
            case 'known':
              if (known!.length < mostNames) known!.push(text)
              break
            case 'attachment':
              attachments.add(name)
              hashes.add(hash(text))
          }
          break
        case 'folder':
          if (folders!.length < mostNames && typeof name === 'string') folders!.push(text)
          else areFoldersCut = true
          break
        case 'special':
          if (!isPassedOver(text)) unopened(text, notAFile)
          break
        case 'outside':
          unopened(text, leadsOut)
          break
        case 'linked-folder':
      }
      if (count % beforeTurn === 0) {
        await immediately()
        signal?.throwIfAborted()
      }
    }
  } finally {
    open.closeSync()
  }
  return {
    directory,
    state: 'there',
    results: results.blocks(),
    resultCount: results.length,
    containers: containers.blocks(),
    containerCount: containers.length,
    attachments: attachments.blocks(),
    attachmentHashes: hashes.all(),
    known: known!.sort(),
    folders: folders!.sort(),
    areFoldersCut,
    special: special.sort((one, other) => (one.file < other.file ? -1 : 1)),
    specialCount,
  }
}

type EntryType = 'file' | 'folder' | 'linked-folder' | 'special' | 'outside'

function typeOf(entry: Dirent, directory: string, path: string | Buffer): EntryType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (!entry.isSymbolicLink()) return 'special'
  switch (kindOf(directory, path)) {
    case 'file':
      return 'file'
    case 'folder':
      return 'linked-folder'
    case 'special':
      return 'special'
    case 'outside':
      return 'outside'
    case 'nowhere':
      // opening it reports why it cannot be opened
      return 'file'
  }
}

function stateBy(error: unknown): 'missing' | 'not-a-directory' | null {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ELOOP':
      return 'missing'
    case 'ENOTDIR':
      return 'not-a-directory'
    default:
      return null
  }
}

function notListed(directory: string, error: unknown): AdminError {
  const isRight = ['EACCES', 'EPERM'].includes(codeOf(error) ?? '')
  return new AdminError(
    isRight ? 'FORBIDDEN' : 'UNREACHABLE',
    isRight
      ? `this user has no permission to list the directory ${directory}`
      : `the directory ${directory} cannot be listed: ${messageOf(error)}`,
    [command`ls -ld ${asPath(directory)}`],
    { cause: error },
  )
}

/** Contents of subdirectories, in which an agent looks for nothing. */
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
 * Searches the subdirectories of these names, except those in `except`, which are paths below the directory. Follows
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
