import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { codeOf } from '../core/error.ts'
import { isAlive } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

const noRoom = ['ENOSPC', 'EDQUOT']

/**
 * Takes a lock that is a file. Returns null if it is now ours, else its living holder. Replaces the lock of a dead
 * process. Throws system errors if the file cannot be written. With `evenIfFull`, a full disk counts as success if
 * nobody holds the lock: nobody else can take it there.
 */
export async function takeLock<T extends ProcessIdentity>(
  lock: string,
  own: T,
  { evenIfFull = false } = {},
): Promise<T | null> {
  const draft = `${lock}.${process.pid}`
  try {
    await writeFile(draft, JSON.stringify(own), { mode: 0o600 })
    for (;;) {
      // a link appears complete or not at all
      if (await succeeds(link(draft, lock), 'EEXIST')) return null
      const found = await textOf(lock)
      const holder = await livingHolder<T>(found)
      if (holder) return holder
      await putAside(lock, found)
    }
  } catch (error) {
    if (evenIfFull && noRoom.includes(codeOf(error) ?? '')) return holderOf<T>(lock)
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Releases what `takeLock` took; harmless if another process holds it. */
export async function giveBack<T extends ProcessIdentity>(lock: string, own: T): Promise<void> {
  if ((await textOf(lock)) === JSON.stringify(own)) await rm(lock, { force: true })
}

/** Returns who holds the lock; null if no living process does. */
export async function holderOf<T extends ProcessIdentity>(lock: string): Promise<T | null> {
  return livingHolder<T>(await textOf(lock))
}

/** Moves the lock of a dead process away. Restores it if a living process took the lock meanwhile. */
async function putAside(lock: string, found: string): Promise<void> {
  const aside = `${lock}.stale.${process.pid}`
  if (!(await succeeds(rename(lock, aside), 'ENOENT'))) return
  if ((await textOf(aside)) !== found) await succeeds(link(aside, lock), 'EEXIST')
  await rm(aside, { force: true })
}

async function livingHolder<T extends ProcessIdentity>(text: string): Promise<T | null> {
  try {
    const holder = JSON.parse(text) as T
    return (await isAlive(holder)) ? holder : null
  } catch {
    return null
  }
}

async function succeeds(work: Promise<void>, otherwise: string): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (codeOf(error) === otherwise) return false
    throw error
  }
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
