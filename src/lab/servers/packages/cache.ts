import { access, mkdir, readdir, rename, rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketLock } from '../../../adapters/process-identity.ts'
import { assertOwnFolder } from '../../../adapters/trust/assert.ts'
import type { FolderKind } from '../../../adapters/trust/assert.ts'
import { AdminError, messageOf } from '../../../core/error.ts'
import type { StartOptions } from '../types.ts'

/**
 * Returns the folder that keeps fetched programs between calls. Root's folder lets other accounts in, because
 * PostgreSQL runs as one of them; else it is in `$XDG_CACHE_HOME` or `~/.cache`.
 */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const named = environment['TESTOPS_ADMIN_LAB_CACHE']
  if (named && isAbsolute(named)) return named
  if (process.getuid?.() === 0) return '/var/cache/testops-admin/servers'
  const home = environment['XDG_CACHE_HOME']
  return join(home && isAbsolute(home) ? home : join(homedir(), '.cache'), 'testops-admin', 'servers')
}

const cacheKind: FolderKind = {
  what: 'the folder for downloaded programs',
  elsewhere: 'export TESTOPS_ADMIN_LAB_CACHE=DIRECTORY   # uses another folder',
}

/**
 * Returns the folder `name` of the cache. If it is missing, `make` fills a temporary folder, which is then renamed, so
 * the folder is complete or missing. `final` is its later path, for paths written into files. Throws REFUSED if others
 * may write to the cache, since programs run from there.
 */
export async function cached(
  cache: string,
  name: string,
  make: (temporary: string, final: string) => Promise<void>,
  options: StartOptions,
): Promise<string> {
  const final = join(cache, name)
  assertOwnFolder(final, { kind: cacheKind })
  if (await exists(final)) return final
  await makeCache(cache)
  assertOwnFolder(cache, { kind: cacheKind })
  await alone(final, options, async () => {
    if (await exists(final)) return
    // left by earlier calls that were killed
    for (const entry of await readdir(cache)) {
      if (entry.startsWith(`${name}.`) && entry.endsWith('.part'))
        await rm(join(cache, entry), { recursive: true, force: true })
    }
    const temporary = join(cache, `${name}.${process.pid}.part`)
    try {
      await mkdir(temporary, { mode: 0o755 })
      await make(temporary, final)
      await rename(temporary, final)
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  })
  return final
}

async function makeCache(cache: string): Promise<void> {
  try {
    await mkdir(cache, { recursive: true, mode: 0o755 })
  } catch (error) {
    throw new AdminError(
      'UNAVAILABLE',
      `cannot create folder ${cache} for downloaded programs: ${messageOf(error)}`,
      ['export TESTOPS_ADMIN_LAB_CACHE=…   # the path of a folder that you can write to'],
      { cause: error },
    )
  }
}

/**
 * Runs `work` while no other process of this account runs work under the same key. The lock is a socket without a file,
 * so the system frees it however its holder exits.
 */
export async function alone<T>(key: string, options: StartOptions, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 15 * 60_000
  let lock = await lockOf(key)
  if (!lock) options.progress(`waiting for another process that is fetching ${key}`)
  while (!lock) {
    if (options.signal?.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for another process')
    if (Date.now() > deadline)
      throw new AdminError('TIMED_OUT', `another process has been fetching ${key} for more than 15 minutes`)
    await sleep(200)
    lock = await lockOf(key)
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

async function lockOf(key: string): Promise<Server | null> {
  return socketLock(key).catch((error: unknown) => {
    throw new AdminError('UNAVAILABLE', `could not lock the cache: ${messageOf(error)}`, [], { cause: error })
  })
}
