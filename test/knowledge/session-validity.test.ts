import { expect, test } from 'vitest'
import { isStale, wasThere } from '../../src/knowledge/sessions.ts'

const now = 1_800_000_000_000
const minute = 60_000
const valid = { creationTime: now - minute, lastAccessedTime: now - minute, maxInactiveSeconds: 1800 }

test.each([
  { what: 'valid', of: {}, indexed: false, stale: false },
  { what: 'over by what is tolerated', of: { lastAccessedTime: now - 31 * minute }, indexed: false, stale: false },
  { what: 'over by more', of: { lastAccessedTime: now - 31 * minute - 1 }, indexed: false, stale: true },
  {
    what: 'over by no more than an indexed repository keeps it',
    of: { lastAccessedTime: now - 36 * minute },
    indexed: true,
    stale: false,
  },
  { what: 'over by more than that', of: { lastAccessedTime: now - 36 * minute - 1 }, indexed: true, stale: true },
  { what: 'never over', of: { lastAccessedTime: 0, maxInactiveSeconds: -1 }, indexed: false, stale: false },
  { what: 'ahead by what is tolerated', of: { creationTime: now + minute }, indexed: false, stale: false },
  { what: 'ahead by more', of: { creationTime: now + minute + 1 }, indexed: false, stale: true },
  { what: 'written back without its creation', of: { creationTime: null }, indexed: false, stale: true },
  {
    what: 'no session at all',
    of: { creationTime: null, lastAccessedTime: null, maxInactiveSeconds: null },
    indexed: false,
    stale: false,
  },
])('$what', ({ of, indexed, stale }) => {
  expect(isStale({ ...valid, ...of }, { now, indexed })).toBe(stale)
})

test.each([
  { what: 'before the count', creationTime: now - 1, was: true },
  { what: 'within what clocks may differ by', creationTime: now + minute, was: true },
  { what: 'after it', creationTime: now + minute + 1, was: false },
  { what: 'in the future even now', creationTime: now + 62 * minute, was: true },
  { what: 'at no time', creationTime: null, was: true },
])('a session begun $what', ({ creationTime, was }) => {
  expect(wasThere({ ...valid, creationTime }, { asOf: now, now: now + 60 * minute })).toBe(was)
})
