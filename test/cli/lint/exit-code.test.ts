import { expect, test } from 'vitest'
import { areWarningsFailures, judgingOf, lintExitCode } from '../../../src/cli/lint/run-lint.ts'

type Given = Parameters<typeof judgingOf>[0]
const plain: Given = { ci: false, 'fail-on': 'warning' }

test.each<[what: string, given: Partial<Given>, settings: number | undefined, maxWarnings: number | null]>([
  ['nothing', {}, undefined, null],
  ['--ci', { ci: true }, undefined, 0],
  ['--ci with settings', { ci: true }, 7, 7],
  ['settings', {}, 7, 7],
  ['a flag', { 'max-warnings': 3 }, 7, 3],
  ['a flag of 0', { 'max-warnings': 0 }, 7, 0],
  ['--ci --fail-on error', { ci: true, 'fail-on': 'error' }, 7, null],
  ['--fail-on error --max-warnings', { 'max-warnings': 3, 'fail-on': 'error' }, undefined, 3],
])('how many warnings are allowed: %s', (_, given, settings, maxWarnings) => {
  expect(judgingOf({ ...plain, ...given }, settings).maxWarnings).toBe(maxWarnings)
})

test.each<
  [
    found: [error: number, warning: number, unknown: number],
    maxWarnings: number | null,
    codes: [warning: number, error: number, unknown: number],
  ]
>([
  [[0, 0, 0], null, [0, 0, 0]],
  [[1, 1, 1], null, [1, 1, 1]],
  [[0, 1, 0], null, [2, 0, 2]],
  [[0, 0, 1], null, [3, 0, 1]],
  [[0, 1, 1], null, [3, 0, 1]],
  [[0, 2, 0], 1, [1, 1, 1]],
  [[0, 1, 0], 1, [0, 0, 0]],
  [[0, 1, 1], 1, [3, 0, 1]],
  [[1, 0, 0], 1, [1, 1, 1]],
  [[0, 1, 0], 0, [1, 1, 1]],
])('%j with %j warnings allowed', ([error, warning, undeterminedCount], maxWarnings, codes) => {
  const document = { summary: { error, warning }, undeterminedCount }
  expect(
    (['warning', 'error', 'unknown'] as const).map((failOn) => lintExitCode(document, { failOn, maxWarnings })),
  ).toEqual(codes)
})

test.each<[omitted: string, code: number]>([
  ['12-result.json', 3],
  ['sub/12-result.json', 0],
  ['pipe', 0],
])('a mended copy without %s ends with %d', (file, code) => {
  const fix = {
    from: 'r',
    output: 'm',
    files: 1,
    mended: {},
    left: [],
    leftCount: 0,
    omitted: [{ file, message: 'a pipe, not a file' }],
  }
  expect(
    lintExitCode(
      { summary: { error: 0, warning: 0 }, undeterminedCount: 0, fix },
      { failOn: 'warning', maxWarnings: null },
    ),
  ).toBe(code)
})

test.each<[warning: number, maxWarnings: number | null, failOn: 'warning' | 'error', boolean]>([
  [1, null, 'warning', true],
  [1, null, 'error', false],
  [1, 1, 'warning', false],
  [2, 1, 'error', true],
])('%d warnings with %j allowed, failing on %s', (warning, maxWarnings, failOn, expected) => {
  expect(areWarningsFailures({ summary: { error: 0, warning } }, { failOn, maxWarnings })).toBe(expected)
})
