import { dirname } from 'node:path'
import { AdminError, messageOf } from '../core/error.ts'
import type { Holder, LockOwner, RepairLock } from '../core/lock.ts'
import { command, nested } from '../core/shell-command.ts'
import { makeFolder } from './replace-file.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { identify } from './process-identity.ts'
import { assertOwnFolder } from './trust/assert.ts'
import { takeLock, giveBack, holderOf } from './lock-file.ts'

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
