import { describe, expect, test } from 'vitest'
import { closestNames, closestTo, didYouMean, nearestNames } from '../../src/core/nearest.ts'

const faults = ['stuck-lock', 'live-lock', 'clock-skew/far', 'api-slow', 'database-down', 'store-full']
const checks = [
  'database',
  'database/reachable',
  'database/changelog-lock',
  'sessions/clock',
  'service/clocks',
  'api/token',
]

describe('names that are near', () => {
  test.each([
    ['databse', ['url', 'database', 'broker'], ['database']],
    ['prdo', ['prod', 'staging'], ['prod']],
    ['Prod', ['prod'], ['prod']],
    ['stuck-lok', faults, ['stuck-lock']],
    ['lock-stuck', faults, ['stuck-lock', 'live-lock']],
    ['lock', faults, ['stuck-lock', 'live-lock', 'clock-skew/far']],
    ['postgres-down', faults, ['database-down']],
    ['databse', checks, ['database']],
    ['chagelog-lock', checks, ['database/changelog-lock']],
    ['stuck-lok', checks, ['database/changelog-lock']],
    ['clock', checks, ['sessions/clock', 'service/clocks', 'database/changelog-lock']],
    ['something else', ['url', 'ca'], []],
    ['x', ['url', 'ca'], []],
    ['', ['ca'], []],
    ['nope', faults, []],
  ])('%s among %j', (typed, known, expected) => {
    expect(nearestNames(typed, known)).toEqual(expected)
  })
})

test('where nothing is near, the least unlike are named, as long as there are any', () => {
  expect(closestNames('stuck-lok', faults)).toEqual(['stuck-lock'])
  expect(closestNames('nope', ['api/token', 'notes', 'code', 'database'])).toEqual(['notes', 'code', 'api/token'])
  expect(closestNames('nope', [])).toEqual([])
})

test('the hint is one clause', () => {
  expect(didYouMean('prdo', ['prod', 'staging'])).toBe('did you mean `prod`?')
  expect(didYouMean('lock', faults)).toBe('did you mean `stuck-lock`, `live-lock` or `clock-skew/far`?')
  expect(didYouMean('nope', faults)).toBeUndefined()
  expect(closestTo('prdo', ['prod', 'staging'])).toBe('did you mean `prod`?')
  expect(closestTo('nope', ['notes', 'code', 'url'])).toBe('the closest known names are `notes`, `code` or `url`')
})
