import { expect, test } from 'vitest'
import { readClock } from '../../src/adapters/clock.ts'

const hour = 3_600_000
const clocks = [
  { what: 'a right clock', offset: 0, granularity: 0 },
  { what: 'a clock an hour ahead', offset: hour, granularity: 0 },
  { what: 'a clock an hour behind', offset: -hour, granularity: 0 },
  { what: 'a clock that shows whole seconds', offset: 90_000, granularity: 1000 },
]
test.each(clocks)('$what', async ({ offset, granularity }) => {
  const reading = await readClock(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const time = Date.now() + offset
    return granularity === 0 ? time : Math.floor(time / granularity) * granularity
  }, granularity)
  expect(Math.abs(reading.offsetMs - offset)).toBeLessThanOrEqual(reading.uncertaintyMs)
  expect(reading.uncertaintyMs).toBeLessThan(granularity / 2 + 60)
})

test('a clock that is set in between is read by its quickest answer', async () => {
  const offsets = [0, hour, hour]
  const reading = await readClock(async () => Date.now() + (offsets.shift() ?? 0))
  expect([0, hour].some((offset) => Math.abs(reading.offsetMs - offset) < 20)).toBe(true)
})
