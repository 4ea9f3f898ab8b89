import { Errors } from '@oclif/core'
import { expect, test } from 'vitest'
import { exitCodeOfUnloaded, failureOf } from '../../src/cli/failure.ts'
import { AdminError } from '../../src/core/error.ts'

test('an AdminError keeps its code, its message and its suggestions', () => {
  const error = new AdminError('UNREACHABLE', 'no answer from db:5432', ['pg_isready -h db'])
  expect(failureOf(error, 'tool')).toEqual({
    exitCode: 69,
    document: { error: { code: 'UNREACHABLE', message: 'no answer from db:5432', suggestions: ['pg_isready -h db'] } },
  })
})

test.each([
  [new TypeError('x is not a function'), 'x is not a function'],
  ['thrown text', 'thrown text'],
  [undefined, 'undefined'],
])('anything else is a bug: %s', (thrown, message) => {
  const failure = failureOf(thrown, 'tool')
  expect(failure?.exitCode).toBe(70)
  expect(failure?.document.error).toEqual({
    code: 'BUG',
    message: `this is a bug in tool: ${message}`,
    suggestions: [],
  })
  expect(failure?.stack === undefined).toBe(!(thrown instanceof Error))
})

test('standard output that takes no more is no bug', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  expect(failureOf(full, 'tool')).toEqual({
    exitCode: 69,
    document: {
      error: {
        code: 'UNAVAILABLE',
        message: 'cannot write the output: ENOSPC: no space left on device, write',
        suggestions: [],
      },
    },
  })
  expect(failureOf(Object.assign(full, { path: '/x' }), 'tool')?.exitCode).toBe(70)
})

test('a wish to end is no failure', () => {
  expect(failureOf(new Errors.ExitError(0), 'tool')).toBeNull()
})

test.each<[Parameters<typeof exitCodeOfUnloaded>[0], number]>([
  [['TIMED_OUT'], 3],
  [['FAILED', 'CONFIGURATION'], 64],
  [['SECRET_MISSING'], 64],
  [['CONFIGURATION', 'BUG', 'TIMED_OUT'], 70],
])('what could not be loaded for %j exits with %d', (codes, exitCode) => {
  expect(exitCodeOfUnloaded(codes)).toBe(exitCode)
})
