import { expect, test } from 'vitest'
import { fitsGlob, plainGlob } from '../../src/core/glob.ts'

test.each([
  ['*', '', true],
  ['a*', 'a', true],
  ['a*', 'ba', false],
  ['*a*b', 'xaxb', true],
  ['*a*b', 'xaxbx', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['queue.*.dlq', 'queue.a.b.dlq', true],
  ['*\n', 'a\n', true],
  ['', '', true],
  ['', 'a', false],
  ['?', '😀', true],
])('%j fits %j: %s', (pattern, name, fits) => {
  expect(fitsGlob(plainGlob(pattern), name)).toBe(fits)
})

test('many signs that could each take all of a name take no longer', () => {
  expect(fitsGlob(plainGlob(`${'*a'.repeat(100)}b`), 'a'.repeat(255))).toBe(false)
})
