import { expect, test } from 'vitest'
import { moment, momentIn } from '../../src/core/format.ts'

test('a time is formatted as clocks of its zone show it', () => {
  const at = new Date('2026-11-21T02:12:44Z')
  expect([momentIn(at, 'Asia/Tokyo'), momentIn(at, 'America/New_York'), momentIn(at, 'Asia/Tokyo')]).toEqual([
    '2026-11-21 11:12:44',
    '2026-11-20 21:12:44',
    '2026-11-21 11:12:44',
  ])
})

test('a time that is none ends nothing, and an unknown zone is refused', () => {
  expect(momentIn(new Date('2026-13-45'), 'Asia/Tokyo')).toBe('Invalid Date')
  expect(() => momentIn(new Date(0), 'Nowhere/At All')).toThrow(RangeError)
})

test('a time is told in UTC to the second, and what is no time ends nothing', () => {
  const at = '2026-11-21T11:12:44.642+09:00'
  expect([moment(at), moment(new Date(at)), moment('no time')]).toEqual([
    '2026-11-21 02:12:44Z',
    '2026-11-21 02:12:44Z',
    'Invalid Date',
  ])
})
