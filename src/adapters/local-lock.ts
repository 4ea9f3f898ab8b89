import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AdminError, messageOf } from '../core/error.ts'
import type { Holder, LockOwner, RepairLock } from '../core/lock.ts'
import { giveBack, holderOf, takeLock } from './lock-file.ts'
import { identify } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

interface Operator extends ProcessIdentity {
  who: string
  what: string
  since: string
}

/** Who holds the lock in that file now; null: nobody who lives. */
export async function localOperator(file: string): Promise<Holder | null> {
  const holder = await holderOf<Operator>(file)
  return holder && asHolder(holder)
}

/** A lock among the operators of this machine who share a state folder. One that a killed process left is taken over. */
export function localLock(file: string, { who, what }: LockOwner): RepairLock {
  let own: Operator | null = null
  return {
    where: file,
    async take() {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        const operator = { ...(await identify(process.pid))!, who, what, since: new Date().toISOString() }
        const holder = await takeLock(file, operator)
        if (holder) return asHolder(holder)
        own = operator
        return null
      } catch (error) {
        const look = /^(ENOSPC|EDQUOT)/.test(messageOf(error)) ? 'df -h' : 'ls -ld'
        throw new AdminError('UNAVAILABLE', `the lock ${file} cannot be taken: ${messageOf(error)}`, [`${look} ${dirname(file)}`], { cause: error })
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
