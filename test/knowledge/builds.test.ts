import { describe, expect, it } from 'vitest'
import {
  compareBuilds,
  firstLegacyBuild,
  firstV3Build,
  isAtLeast,
  migratesTrees,
  parseBuild,
} from '../../src/knowledge/builds.ts'

const parsed = (text: string): readonly unknown[] | null => {
  const build = parseBuild(text)
  return build && [build.major, build.minor, build.update, build.label]
}

describe('parseBuild', () => {
  it.each([
    ['526u03', [5, 26, 3, '526u03']],
    ['527u01', [5, 27, 1, '527u01']],
    [' 511u12 ', [5, 11, 12, '511u12']],
    ['59u01', [5, 9, 1, '59u01']],
    ['1027u01', [10, 27, 1, '1027u01']],
    ['v526u03', [5, 26, 3, 'v526u03']],
    ['5.26', [5, 26, null, '5.26']],
    ['5.26.3', [5, 26, 3, '5.26.3']],
    ['26.2.1', null],
    ['latest', null],
    ['526', null],
    ['526u', null],
    ['526u03-rc1', null],
    ['', null],
  ])('%j', (text, build) => {
    expect(parsed(text)).toEqual(build)
  })
})

it.each([
  ['526u02', '526u03', -1],
  ['526u03', '526u03', 0],
  ['526u10', '526u03', 1],
  ['527u01', '526u99', 1],
  ['526u01', '5.26', 0],
  ['5.26', '526u03', 0],
  ['5.9', '511u01', -1],
  ['6.2.1', '527u01', 1],
])('%s against %s', (a, b, sign) => {
  expect(Math.sign(compareBuilds(parseBuild(a)!, parseBuild(b)!))).toBe(sign)
  expect(Math.sign(compareBuilds(parseBuild(b)!, parseBuild(a)!))).toBe(sign === 0 ? 0 : -sign)
})

it('knows the builds of SPEC.md 9', () => {
  expect(parseBuild(firstV3Build.label)).toEqual(firstV3Build)
  expect(parseBuild(firstLegacyBuild.label)).toEqual(firstLegacyBuild)
  expect(['526u02', '526u03', '5.26', '527u01'].map((text) => isAtLeast(parseBuild(text)!, firstV3Build))).toEqual([
    false,
    true,
    true,
    true,
  ])
  expect(
    ['510u09', '511u01', '5.11', '524u99', '525u01', '611u01'].map((text) => migratesTrees(parseBuild(text)!)),
  ).toEqual([false, true, true, true, false, false])
})
