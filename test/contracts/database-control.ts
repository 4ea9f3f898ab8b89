import { describe, expect, test } from 'vitest'
import type { DatabaseControl } from '../../src/core/controls.ts'
import type { ChangelogLockRow } from '../../src/core/sources.ts'

export interface OpenedControl {
  control: DatabaseControl
  rows: () => Promise<readonly ChangelogLockRow[]>
  close: () => Promise<void>
}

const free: ChangelogLockRow = { id: 1, locked: false, lockGranted: null, lockedBy: null }
const held: ChangelogLockRow = {
  id: 1,
  locked: true,
  lockGranted: '2026-11-20 23:00:00.123456',
  lockedBy: 'testops-1 (10.0.0.7)',
}
const other: ChangelogLockRow = { ...free, id: 2 }
const left: ChangelogLockRow = { ...held, id: 3 }

/** What every control of a database keeps: what is not as it was seen is left alone. */
export function databaseControlContract(open: (rows: readonly ChangelogLockRow[]) => Promise<OpenedControl>): void {
  type Change = (control: DatabaseControl) => Promise<string>
  const release: Change = async (control) => control.releaseLock({ schema: 'public' }, held)
  const restore: Change = async (control) => control.restoreLock({ schema: 'public' }, held)
  const insert: Change = async (control) => control.insertLockRow({ schema: 'public' })
  const remove: Change = async (control) => control.deleteLockRow({ schema: 'public' })
  const removeOthers: Change = async (control) => control.removeOtherRows({ schema: 'public' }, [other, left])
  const restoreOthers: Change = async (control) => control.restoreOtherRows({ schema: 'public' }, [other, left])

  describe.each<
    [what: string, change: Change, before: ChangelogLockRow[], compared: string, after: ChangelogLockRow[]]
  >([
    ['a lock is released', release, [held], 'set', [free]],
    [
      'a lock of another holder',
      release,
      [{ ...held, lockedBy: 'testops-2' }],
      'changed',
      [{ ...held, lockedBy: 'testops-2' }],
    ],
    [
      'a lock of another moment',
      release,
      [{ ...held, lockGranted: '2026-11-20 23:00:00.123457' }],
      'changed',
      [{ ...held, lockGranted: '2026-11-20 23:00:00.123457' }],
    ],
    ['a lock without a moment', release, [{ ...held, lockGranted: null }], 'changed', [{ ...held, lockGranted: null }]],
    ['a lock that is free already', release, [free], 'changed', [free]],
    ['a lock whose row is gone', release, [other], 'changed', [other]],
    ['other rows stay as they are', release, [held, other], 'set', [free, other]],
    ['a lock is put back', restore, [free], 'set', [held]],
    [
      'a lock that was taken since is not',
      restore,
      [{ ...held, lockedBy: 'testops-2' }],
      'changed',
      [{ ...held, lockedBy: 'testops-2' }],
    ],
    ['a row is inserted', insert, [other], 'set', [free, other]],
    ['a row that is there is not', insert, [held], 'changed', [held]],
    ['a free row is taken away', remove, [free, other], 'set', [other]],
    ['a held one is not', remove, [held, other], 'changed', [held, other]],
    ['other rows are removed', removeOthers, [held, other, left], 'set', [held]],
    [
      'other rows, one of which has changed and stays',
      removeOthers,
      [free, other, { ...left, lockGranted: null }],
      'set',
      [free, { ...left, lockGranted: null }],
    ],
    ['other rows, one of which is gone', removeOthers, [free, other], 'set', [free]],
    ['other rows that are gone', removeOthers, [free], 'changed', [free]],
    [
      'the row that counts is never removed with them',
      async (control) => control.removeOtherRows({ schema: 'public' }, [held, other]),
      [held, other],
      'set',
      [held],
    ],
    [
      'rows that came since stay',
      removeOthers,
      [free, other, left, { ...other, id: 4 }],
      'set',
      [free, { ...other, id: 4 }],
    ],
    ['other rows are put back', restoreOthers, [free], 'set', [free, other, left]],
    [
      'other rows are put back but for an id that is in use again',
      restoreOthers,
      [free, { ...held, id: other.id }],
      'set',
      [free, { ...held, id: other.id }, left],
    ],
  ])('%s', (_, change, before, compared, after) => {
    test('', async () => {
      const { control, rows, close } = await open(before)
      try {
        expect(await change(control)).toBe(compared)
        expect([...(await rows())].sort((a, b) => a.id - b.id)).toEqual(after)
      } finally {
        await close()
      }
    })
  })

  test('knows its own transactions, and takes back what the last of them set', async () => {
    const { control, rows, close } = await open([other])
    const marks: string[] = []
    expect(await control.insertLockRow({ schema: 'public' }, async (mark) => void marks.push(mark))).toBe('set')
    expect(marks).toHaveLength(1)
    expect([await control.hasCommitted(marks), await control.hasCommitted([])]).toEqual([true, false])
    expect(await control.deleteLockRow({ schema: 'public' }, ['3'])).toBe('changed')
    expect(await control.deleteLockRow({ schema: 'public' }, marks)).toBe('set')
    expect(await rows()).toEqual([other])
    await close()
  })

  test('says which database it is', async () => {
    const { control, close } = await open([])
    expect(control.target).toMatch(/^[\w.-]+:\d+\/\w+$/)
    await close()
  })
}
