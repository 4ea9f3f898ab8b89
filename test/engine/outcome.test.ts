import { describe, expect, test } from 'vitest'
import { AdminError, exitCodes } from '../../src/core/error.ts'
import type { ErrorCode } from '../../src/core/error.ts'
import { exitCodeOfRun, outcomeOf, runError } from '../../src/engine/steps.ts'

describe('what a failure makes of a run', () => {
  test.each<[code: ErrorCode | 'BUG', before: string, halfDone: string]>([
    ['FAILED', 'failed', 'failed'],
    ['BUG', 'failed', 'failed'],
    ['INTERRUPTED', 'interrupted', 'interrupted'],
    ['REFUSED', 'refused', 'interrupted'],
    ['BUSY', 'refused', 'interrupted'],
    ['UNREACHABLE', 'failed', 'interrupted'],
    ['TIMED_OUT', 'failed', 'interrupted'],
    ['UNAVAILABLE', 'failed', 'interrupted'],
  ])('%s', (code, before, halfDone) => {
    expect([outcomeOf({ code }, false), outcomeOf({ code }, true)]).toEqual([before, halfDone])
  })
})

describe('the exit code of a run', () => {
  test.each<[what: string, code: number, of: Parameters<typeof exitCodeOfRun>]>([
    ['done', 0, ['done', undefined, { a: 'ok' }]],
    ['done, with a warning', 0, ['done', undefined, { a: 'warning' }]],
    ['done, and a check that could not look', 3, ['done', undefined, { a: 'unknown' }]],
    ['all done, and a check is not content', 1, ['failed', undefined, { a: 'error', b: 'unknown' }]],
    ['half done, whatever stopped it', 6, ['interrupted', { code: 'UNREACHABLE' }, {}]],
    ['refused', 4, ['refused', { code: 'REFUSED' }, {}]],
    ['failed by itself', 1, ['failed', { code: 'FAILED' }, {}]],
    ['what it needs is away', 69, ['failed', { code: 'UNREACHABLE' }, {}]],
    ['a bug', 70, ['failed', { code: 'BUG' }, {}]],
  ])('%s', (_, code, of) => expect(exitCodeOfRun(...of)).toBe(code))
})

test('an error is kept with what to type, and every code of the table has its exit code', () => {
  const fill = (command: string): string => command.replace('{deployment}', 'prod')
  expect(runError(new AdminError('REFUSED', 'no', ['doctor -d {deployment}']), fill)).toEqual({
    code: 'REFUSED',
    message: 'no',
    suggestions: ['doctor -d prod'],
  })
  expect(runError(new TypeError('x is undefined'))).toEqual({
    code: 'BUG',
    message: 'this is a bug in testops-admin: x is undefined',
    suggestions: [],
  })
  for (const code of Object.keys(exitCodes) as ErrorCode[])
    expect(exitCodeOfRun('failed', { code }, {})).toBe(exitCodes[code])
})
