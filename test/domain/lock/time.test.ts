import { expect, test } from 'vitest'
import { readGranted } from '../../../src/domain/lock/time.ts'

const now = new Date('2026-10-25T06:00:00Z')
const between = (lockGranted: string | null, timeZone: string | null): string[] | null => {
  const granted = readGranted(lockGranted, { named: timeZone }, now)
  return (
    granted && [granted.earliest, granted.latest, granted.latestAnywhere].map((at) => at.toISOString().slice(5, 16))
  )
}

test.each<[what: string, lockGranted: string | null, timeZone: string | null, expected: string[] | null]>([
  [
    'in a zone that is known',
    '2026-10-24 23:00:00.171000',
    'Europe/Berlin',
    ['10-24T21:00', '10-24T21:00', '10-25T06:00'],
  ],
  ['long ago: wherever it was', '2026-10-20 23:00:00', 'Europe/Berlin', ['10-20T21:00', '10-20T21:00', '10-21T11:00']],
  [
    'in the hour that clocks showed twice',
    '2026-10-25 02:30:00',
    'Europe/Berlin',
    ['10-25T00:30', '10-25T01:30', '10-25T06:00'],
  ],
  ['where nobody knows the zone', '2026-10-24 23:00:00', null, ['10-24T09:00', '10-25T06:00', '10-25T06:00']],
  ['in a zone that is none', '2026-10-24 23:00:00', 'Japan Time', ['10-24T09:00', '10-25T06:00', '10-25T06:00']],
  [
    'in the future: the zone is another',
    '2026-10-25 12:00:00',
    'Europe/Berlin',
    ['10-24T22:00', '10-25T06:00', '10-25T06:00'],
  ],
  ['at no time', null, 'Europe/Berlin', null],
  ['at something else', 'yesterday', 'Europe/Berlin', null],
])('a lock was taken %s', (_, lockGranted, timeZone, expected) => {
  expect(between(lockGranted, timeZone)).toEqual(expected)
})

test('of the hour that clocks showed twice both ages are told, and the second is not in the future', () => {
  expect(readGranted('2026-10-25 02:30:00', { named: 'Europe/Berlin' }, now)?.text).toBe(
    '2026-10-25 02:30:00 Europe/Berlin (4 h 30 min or 5 h 30 min ago)',
  )
  expect(readGranted('2026-10-25 02:30:00', { named: 'Europe/Berlin' }, new Date('2026-10-25T01:00:00Z'))?.text).toBe(
    '2026-10-25 02:30:00 Europe/Berlin (30 min ago)',
  )
})
