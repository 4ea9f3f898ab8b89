import { constants } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces } from '../../src/output/text.ts'

test('the pieces are what JSON.stringify makes', () => {
  const rows = fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 5 }), (value, depth) => {
    // but for what is escaped, which a test of its own reads
    const plain = [...jsonPieces(value, depth)].join('').replaceAll(String.raw`#\u0023`, '##')
    const expected = JSON.stringify(value, null, 2)
    fc.pre(!expected.includes(String.raw`\u0023`))
    expect(plain).toBe(expected)
  })
  fc.assert(rows, { numRuns: 2000 })
})

test.each([
  {},
  [],
  { a: undefined },
  { a: {}, b: [] },
  [[], [{}]],
  { 'a\n"b': 'c\nd', e: undefined, f: [null, true, -0, 1e300] },
])('%j', (value) => {
  for (const depth of [0, 1, 2, 3]) expect([...jsonPieces(value, depth)].join('')).toBe(JSON.stringify(value, null, 2))
})

test('of a list a piece is no longer than an item, so that a document may be longer than a text can be', () => {
  const item = { text: 'x'.repeat(10_000) }
  const items = Array.from({ length: Math.ceil(constants.MAX_STRING_LENGTH / 10_000) }, () => item)
  let [length, longest] = [0, 0]
  for (const piece of jsonPieces({ items }, 2)) {
    length += piece.length
    longest = Math.max(longest, piece.length)
  }
  expect(length).toBeGreaterThan(constants.MAX_STRING_LENGTH)
  expect(longest).toBeLessThan(10_100)
})
