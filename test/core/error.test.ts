import { expect, test } from 'vitest'
import { AdminError, codeOf, messageOf } from '../../src/core/error.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const silent = Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' })

test.each([
  ['an error of the system', refused, 'ECONNREFUSED', 'connect ECONNREFUSED'],
  [
    'several, as of several addresses for one name',
    new AggregateError([silent, refused], 'all failed'),
    'ETIMEDOUT',
    'connect ETIMEDOUT',
  ],
  ['several of which there are none', new AggregateError([], 'all failed'), null, 'all failed'],
  ['one of ours', new AdminError('BUSY', 'another operator is at work'), 'BUSY', 'another operator is at work'],
  ['a code that is a number', Object.assign(new Error('refused'), { code: 403 }), null, 'refused'],
  ['an error without words', new TypeError(), null, 'TypeError'],
  ['a cause is another error', new Error('outer', { cause: refused }), null, 'outer'],
  ['what is no error', 'text', null, 'text'],
  ['nothing', undefined, null, 'undefined'],
])('the code and the message of what was thrown: %s', (_what, thrown, code, message) => {
  expect(codeOf(thrown)).toBe(code)
  expect(messageOf(thrown)).toBe(message)
})
