import { expect, test } from 'vitest'
import type { RepairLock } from '../../src/core/lock.ts'

/** Operators before one and the same lock, by their names. */
export interface OpenedLocks {
  lockOf: (who: string, what: string) => Promise<RepairLock>
  close: () => Promise<void>
}

/** What every lock on a deployment keeps. */
export function repairLockContract(open: () => Promise<OpenedLocks>): void {
  const among = async (look: (lockOf: OpenedLocks['lockOf']) => Promise<void>): Promise<void> => {
    const { lockOf, close } = await open()
    try {
      await look(lockOf)
    } finally {
      await close()
    }
  }

  test('one has it, and the second is told who, since when and what', async () => {
    await among(async (lockOf) => {
      const [first, second] = [await lockOf('op1@bastion', 'unlock-changelog'), await lockOf('op2@bastion', 'undo')]
      const before = Date.now()
      expect(await first.take()).toBeNull()
      const holder = await second.take()
      expect(holder).toMatchObject({ who: expect.stringMatching(/^op1@bastion/) as string, what: 'unlock-changelog' })
      expect(Math.abs(holder!.since!.getTime() - before)).toBeLessThan(10_000)
      expect([await first.isHeld(), await second.isHeld()]).toEqual([true, false])
      await first.release()
    })
  })

  test('once it is given back, the next one has it', async () => {
    await among(async (lockOf) => {
      const [first, second] = [await lockOf('op1@bastion', 'undo'), await lockOf('op2@bastion', 'undo')]
      await first.take()
      await second.take()
      await second.release()
      expect(await first.isHeld()).toBe(true)
      await first.release()
      await first.release()
      expect([await first.isHeld(), await second.take(), await second.isHeld()]).toEqual([false, null, true])
      await second.release()
    })
  })

  test('of many at once, one has it', async () => {
    await among(async (lockOf) => {
      const locks = await Promise.all(
        Array.from({ length: 5 }, async (_, index) => lockOf(`op${index}@bastion`, 'undo')),
      )
      const holders = await Promise.all(locks.map(async (lock) => lock.take()))
      expect(holders.filter((holder) => holder === null)).toHaveLength(1)
      for (const lock of locks) await lock.release()
    })
  })
}
