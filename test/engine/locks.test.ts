import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { Holder, RepairLock } from '../../src/core/lock.ts'
import { takeLocks } from '../../src/engine/locks.ts'

/** Locks of one deployment that say what is done with them. */
function locks(...holders: (Holder | AdminError | null)[]): { all: RepairLock[]; did: string[]; lost: Set<string> } {
  const did: string[] = []
  const lost = new Set<string>()
  const all = holders.map((holder, index): RepairLock => {
    const where = ['database', 'file', 'third'][index]!
    return {
      where,
      async take() {
        did.push(`take ${where}`)
        if (holder instanceof AdminError) throw holder
        return holder
      },
      isHeld: async () => !lost.has(where),
      async release() {
        did.push(`release ${where}`)
      },
    }
  })
  return { all, did, lost }
}

const somebody: Holder = {
  who: 'op@bastion (process 812)',
  since: new Date('2026-11-21T02:12:44Z'),
  what: 'unlock-changelog',
}

test('all are taken in their order, and given back in reverse', async () => {
  const { all, did } = locks(null, null)
  const guard = await takeLocks(all)
  await guard.assertHeld()
  await guard.release()
  await guard.release()
  expect(did).toEqual(['take database', 'take file', 'release file', 'release database'])
})

test('where one is held, those before it are given back, and none after it is tried', async () => {
  const { all, did } = locks(null, somebody, null)
  await expect(takeLocks(all)).rejects.toMatchObject({
    code: 'BUSY',
    exitCode: 5,
    message: 'op@bastion (process 812) has been running unlock-changelog on this deployment since 2026-11-21 02:12:44Z',
    suggestions: [
      'testops-admin history -d {deployment}',
      "wait until the other operator's repair has ended, then try again",
    ],
  })
  expect(did).toEqual(['take database', 'take file', 'release database'])
})

test('a holder of whom nothing is known is told as far as it goes', async () => {
  await expect(takeLocks(locks({ who: null, since: null, what: null }).all)).rejects.toThrow(
    'another operator is repairing this deployment',
  )
})

test('one that cannot be taken at all fails with its reason', async () => {
  const { all, did } = locks(null, new AdminError('UNAVAILABLE', 'the lock /state/repair.lock cannot be taken: EROFS'))
  await expect(takeLocks(all)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(did).toEqual(['take database', 'take file', 'release database'])
})

test('a lost one is named', async () => {
  const { all, lost } = locks(null, null)
  const guard = await takeLocks(all)
  lost.add('database')
  await expect(guard.assertHeld()).rejects.toMatchObject({
    code: 'INTERRUPTED',
    exitCode: 6,
    message:
      'this run lost its lock on the deployment (database). Another operator may be repairing the deployment now',
  })
})

test('one that cannot be given back keeps nobody from ending', async () => {
  const { all, did } = locks(null, null)
  const guard = await takeLocks(
    all.map((lock) =>
      lock.where === 'file' ? { ...lock, release: async () => Promise.reject(new Error('EIO')) } : lock,
    ),
  )
  await guard.release()
  expect(did).toEqual(['take database', 'take file', 'release database'])
})
