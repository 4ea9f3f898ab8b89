import { dirname } from 'node:path'
import { AdminError, messageOf, codeOf } from '../core/error.ts'
import type { Holder, LockOwner, RepairLock } from '../core/lock.ts'
import { command, nested } from '../core/shell-command.ts'
import { makeFolder } from './replace-file.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { identify, isAlive } from './process-identity.ts'
import { assertOwnFolder } from './trust/assert.ts'
import { link, readFile, rm, writeFile } from 'node:fs/promises'

interface Operator extends ProcessIdentity {
  who: string
  what: string
  since: string
}

/** Finds the living process that holds the lock in `file`; else null. Throws REFUSED if others can write its folder. */
export async function localOperator(file: string): Promise<Holder | null> {
  assertOwnFolder(dirname(file))
  const holder = await holderOf<Operator>(file)
  return holder && asHolder(holder)
}

/** Creates a lock among operators on this machine who share a state folder. It replaces a killed process's lock. */
export function localLock(file: string, { who, what }: LockOwner): RepairLock {
  let own: Operator | null = null
  return {
    where: file,
    async take() {
      try {
        assertOwnFolder(dirname(file), { toWrite: true })
        await makeFolder(dirname(file))
        // in a folder that is open to all, another user may have created it first
        assertOwnFolder(dirname(file), { toWrite: true })
        const operator = { ...(await identify(process.pid))!, who, what, since: new Date().toISOString() }
        const holder = await takeLock(file, operator)
        if (holder) return asHolder(holder)
        own = operator
        return null
      } catch (error) {
        if (error instanceof AdminError) throw error
        const look = /^(ENOSPC|EDQUOT)/.test(messageOf(error)) ? 'df -h' : 'ls -ld'
        throw new AdminError(
          'UNAVAILABLE',
          `cannot take the lock ${file}: ${messageOf(error)}`,
          [command`${nested(look)} ${dirname(file)}`],
          { cause: error },
        )
      }
    },
    async isHeld() {
      return own !== null && (await holderOf<Operator>(file))?.pid === own.pid
    },
    async release() {
      if (own) await giveBack(file, own)
      own = null
    },
  }
}

function asHolder({ who, pid, what, since }: Operator): Holder {
  return { who: `${who} (process ${pid})`, what, since: new Date(since) }
}

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
      const holder = (await holderOf<T>(lock)) ?? (await removeDead(lock, own))
      if (holder) return holder
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

/**
 * Removes the lock of a dead process. One process at a time does: another would remove what a third has taken since it
 * looked. Returns the process that is at it now, which is about to take the lock, else null.
 */
async function removeDead<T extends ProcessIdentity>(lock: string, own: T): Promise<T | null> {
  const removal = `${lock}.stale`
  const other = await takeLock(removal, own)
  if (other) return other
  try {
    const found = await contentOf(lock)
    // what a dead process left stays until it is removed here; where there is nothing, a living one may come at once
    if (found !== null && (await livingHolder<T>(found)) === null) await rm(lock, { force: true })
    return null
  } finally {
    await giveBack(removal, own)
  }
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
  return (await contentOf(file)) ?? ''
}

/** Returns what is in a file: the empty text if it cannot be read, null if there is none. */
async function contentOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: unknown) => (codeOf(error) === 'ENOENT' ? null : ''))
}
