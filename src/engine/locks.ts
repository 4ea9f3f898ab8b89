import type { Holder, RepairLock } from '../core/lock.ts'
import { AdminError } from '../core/error.ts'
import { moment } from '../core/format.ts'

/** All reachable locks of a deployment, held by this process. */
export interface Guard {
  /** Throws INTERRUPTED if a lock was lost */
  assertHeld(): Promise<void>
  /** Never throws */
  release(): Promise<void>
}

/**
 * Takes every lock, in the order given, so that two operators cannot wait for each other. Releases the locks it has
 * taken if another operator holds one. Throws BUSY with who, since when and what for.
 */
export async function takeLocks(locks: readonly RepairLock[]): Promise<Guard> {
  const taken: RepairLock[] = []
  const release = async (): Promise<void> => {
    for (const lock of taken.splice(0).reverse()) await lock.release().catch(() => undefined)
  }
  try {
    for (const lock of locks) {
      const holder = await lock.take()
      if (holder) throw busy(holder)
      taken.push(lock)
    }
  } catch (error) {
    await release()
    throw error
  }
  return {
    release,
    async assertHeld() {
      for (const lock of taken) {
        if (await lock.isHeld()) continue
        throw new AdminError(
          'INTERRUPTED',
          'this run lost its lock on the deployment ' +
            `(${lock.where})${lock.lostBy === undefined ? '' : `: ${lock.lostBy}`}. Another operator may be ` +
            'repairing the deployment now',
        )
      }
    },
  }
}

function busy({ who, since, what }: Holder): AdminError {
  const verb = since === null ? 'is' : 'has been'
  const doing = what === null ? `${verb} repairing` : `${verb} running ${what} on`
  const when = since === null ? '' : ` since ${moment(since)}`
  return new AdminError('BUSY', `${who ?? 'another operator'} ${doing} this deployment${when}`, [
    'testops-admin history -d {deployment}',
    "wait until the other operator's repair has ended, then try again",
  ])
}
