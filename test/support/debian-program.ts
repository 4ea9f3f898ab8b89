import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, cached } from '../../src/lab/servers/packages/cache.ts'
import { unpackDebian } from '../../src/lab/servers/packages/debian.ts'
import { writeStarter } from '../../src/lab/servers/packages/index.ts'
import { tryProgram } from '../../src/lab/servers/try-program.ts'

/** A program that tests need, and the Debian package that holds it. */
interface DebianProgram {
  name: string
  packageName: string
  /** Path in the package */
  path: string
  /** What is fetched, in megabytes */
  megabytes: number
  /** The folder among those of all libraries that holds the package's own, which it finds by an absolute path */
  ownLibraries?: string
  /** Words with which it exits with 0 */
  tried?: readonly string[]
}

/**
 * Returns a program of this machine, else of Debian's package, which is fetched once and unpacked without root. Throws
 * an error if there is none that runs.
 */
export async function debianProgram(wanted: DebianProgram): Promise<string> {
  const runs = async (program: string): ReturnType<typeof tryProgram> =>
    tryProgram(program, wanted.tried ?? ['--version'], { timeoutMs: 10_000 })
  for (const program of [wanted.name, `/${wanted.path}`]) if ((await runs(program)).ok) return program
  const failures: string[] = []
  for (const suite of ['bookworm', 'trixie']) {
    const program = await fetched(wanted, suite)
    const ran = await runs(program)
    if (ran.ok) return program
    failures.push(`${suite}: ${ran.message}`)
  }
  throw new Error(`there is no ${wanted.name}: ${failures.join('; ')}`)
}

/**
 * Returns the folder in which the files of Debian's package and its libraries lie, fetched once: `usr/share` and the
 * like. `architecture`: Debian's name of another processor.
 */
export async function debianFiles(packageName: string, architecture?: string): Promise<string> {
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const cache = cacheFolder(process.env)
  const unpack = async (temporary: string): Promise<void> => {
    options.progress(`fetching ${packageName} from Debian bookworm (once)`)
    const suite = 'bookworm'
    await unpackDebian({ suite, packageName, cache, root: temporary, ...(architecture && { architecture }) }, options)
  }
  return cached(cache, [packageName, 'bookworm', architecture].filter(Boolean).join('-'), unpack, options)
}

async function fetched(
  { name, packageName, path, megabytes, ownLibraries }: DebianProgram,
  suite: string,
): Promise<string> {
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const cache = cacheFolder(process.env)
  const folder = await cached(
    cache,
    // what was unpacked in another way is unpacked again
    [name, suite, ...(ownLibraries === undefined ? [] : [ownLibraries])].join('-'),
    async (temporary, final) => {
      options.progress(`fetching ${name} from Debian ${suite} (about ${megabytes} MB, once)`)
      await unpackDebian({ suite, packageName, cache, root: temporary }, options)
      if (ownLibraries !== undefined) await raiseLibraries(temporary, ownLibraries)
      await mkdir(join(temporary, 'bin'), { recursive: true })
      await writeStarter({ root: temporary, final }, join(temporary, 'bin', name), join(temporary, path), name)
    },
    options,
  )
  return join(folder, 'bin', name)
}

/** Puts a package's own libraries where the starter of a program looks for all. */
async function raiseLibraries(root: string, folder: string): Promise<void> {
  const all = join(root, 'usr/lib')
  for (const parent of (await readdir(all)).filter((it) => it.endsWith('-linux-gnu')))
    for (const name of (await readdir(join(all, parent, folder))).filter((it) => it.includes('.so')))
      await rename(join(all, parent, folder, name), join(all, parent, name))
}
