import { expect, test } from 'vitest'
import { nearestNames } from '../../src/core/nearest.ts'

test.each([
  ['databse', ['url', 'database', 'broker'], ['database']],
  ['prdo', ['prod', 'staging'], ['prod']],
  ['Prod', ['prod'], ['prod']],
  ['lock', ['stuck-lock', 'live-lock', 'clock-skew', 'api-slow'], ['stuck-lock', 'live-lock', 'clock-skew']],
  ['something else', ['url', 'ca'], []],
  ['x', ['url', 'ca'], []],
  ['', ['ca'], []],
])('%s among %j', (typed, known, expected) => {
  expect(nearestNames(typed, known)).toEqual(expected)
})
