import { expect, it } from 'vitest'
import { isTimeZone, localTimeReader, momentsOf, parseLocalTime } from '../../src/core/local-time.ts'

it.each([
  ['2026-11-21 02:12:44.463171', { year: 2026, month: 11, day: 21, hour: 2, minute: 12, second: 44, millisecond: 463 }],
  ['2026-11-21T02:12:44', { year: 2026, month: 11, day: 21, hour: 2, minute: 12, second: 44, millisecond: 0 }],
  [
    '2026-11-21 02:12:44.5 and more',
    { year: 2026, month: 11, day: 21, hour: 2, minute: 12, second: 44, millisecond: 500 },
  ],
  ['2026-11-21 24:12:44', null],
  ['2026-00-21 02:12:44', null],
  ['11/21/26, 2:12 AM', null],
  ['', null],
])('%s', (text, time) => {
  expect(parseLocalTime(text)).toEqual(time)
})

it.each([
  ['2026-07-01 12:00:00', 'UTC', '2026-07-01T12:00:00.000Z'],
  ['2026-07-01 12:00:00', 'Europe/Berlin', '2026-07-01T10:00:00.000Z'],
  ['2026-12-01 12:00:00', 'Europe/Berlin', '2026-12-01T11:00:00.000Z'],
  // summer time begins at 2:00, an hour that does not exist; it ends at 3:00
  ['2026-03-29 01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59.000Z'],
  ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25 03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-07-01 00:00:00', 'Asia/Kathmandu', '2026-06-30T18:15:00.000Z'],
  ['2026-07-01 00:30:00', 'Pacific/Kiritimati', '2026-06-30T10:30:00.000Z'],
  ['2026-01-01 00:00:00', 'America/St_Johns', '2026-01-01T03:30:00.000Z'],
])('%s in %s', (text, zone, moment) => {
  expect(localTimeReader(zone)(parseLocalTime(text)!).toISOString()).toBe(moment)
})

it('goes on reading after a change of the offset', () => {
  const read = localTimeReader('Europe/Berlin')
  const times = ['2026-03-29 01:59:00', '2026-03-29 03:01:00', '2026-03-29 01:59:00'].map((text) =>
    read(parseLocalTime(text)!).toISOString(),
  )
  expect(times).toEqual(['2026-03-29T00:59:00.000Z', '2026-03-29T01:01:00.000Z', '2026-03-29T00:59:00.000Z'])
})

it.each([
  ['2026-10-25 02:30:00', 'Europe/Berlin', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
  ['2026-10-25 03:00:00', 'Europe/Berlin', ['2026-10-25T02:00:00.000Z']],
  ['2026-04-05 01:45:00', 'Australia/Lord_Howe', ['2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z']],
  ['2026-10-25 02:30:00', 'UTC', ['2026-10-25T02:30:00.000Z']],
  ['2026-10-25 02:30:00', 'Europe/Moscow', ['2026-10-24T23:30:00.000Z']],
])('%s in %s was shown at', (text, zone, moments) => {
  expect(momentsOf(parseLocalTime(text)!, zone).map((at) => at.toISOString())).toEqual(moments)
})

it('knows zones', () => {
  expect(['UTC', 'Europe/Moscow', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false])
})
