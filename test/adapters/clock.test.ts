import { expect, test } from 'vitest'
import { offsetFrom, readClock } from '../../src/adapters/clock.ts'

const hour = 3_600_000
const clocks = [
  { what: 'a right clock', offset: 0 },
  { what: 'a clock an hour ahead', offset: hour },
  { what: 'a clock an hour behind', offset: -hour },
]
test.each(clocks)('$what', async ({ offset }) => {
  const reading = await readClock(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return Date.now() + offset
  })
  expect(Math.abs(reading.offsetMs - offset)).toBeLessThanOrEqual(reading.uncertaintyMs)
  expect(reading.uncertaintyMs).toBeLessThan(60)
})

test('a clock that shows whole seconds is known to a second, and better where a second ends between two looks', () => {
  const before = 1_800_000_000_400
  const look = (later: number): { theirs: number; before: number; tookMs: number } => {
    const theirs = Math.floor((before + later + 90_000) / 1000) * 1000
    return { theirs, before: before + later, tookMs: 10 }
  }
  const once = offsetFrom([look(0)], 1000)
  expect(Math.abs(once.offsetMs - 90_000)).toBeLessThanOrEqual(once.uncertaintyMs)
  expect(once.uncertaintyMs).toBe(505.5)
  const twice = offsetFrom([look(0), look(595), look(605)], 1000)
  expect(Math.abs(twice.offsetMs - 90_000)).toBeLessThanOrEqual(twice.uncertaintyMs)
  expect(twice.uncertaintyMs).toBeLessThan(11)
})

test('a clock that is set in between is read by its quickest answer', async () => {
  const offsets = [0, hour, hour]
  const reading = await readClock(async () => Date.now() + (offsets.shift() ?? 0))
  expect([0, hour].some((offset) => Math.abs(reading.offsetMs - offset) < 20)).toBe(true)
})
