import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signatures } from '../../../src/knowledge/signatures.ts'
import { needlesOf } from '../../../src/logs/scan/needles.ts'

describe('needles', () => {
  it.each([
    [/java\.net\.X/, [{ text: 'java.net.X', ignoreCase: false, isWhole: true }]],
    [/400 bad/i, [{ text: '400 bad', ignoreCase: true, isWhole: true }]],
    [/abcdx?efg/, [{ text: 'abcd', ignoreCase: false, isWhole: false }]],
    [
      /ab{2}cdefg|(long|longer) short[0-9]+/,
      [
        { text: 'cdefg', ignoreCase: false, isWhole: false },
        { text: ' short', ignoreCase: false, isWhole: false },
      ],
    ],
    [/same x|same x/, [{ text: 'same x', ignoreCase: false, isWhole: true }]],
  ])('%s', (pattern, needles) => {
    expect(needlesOf(pattern)).toEqual(needles)
  })

  it.each([/[abc]+/, /ab|abcde/])('%s cannot be told by any', (pattern) => {
    expect(() => needlesOf(pattern)).toThrow('has no literal text of at least 4 characters')
  })

  it.each(signatures.map(({ id, pattern }) => [id, pattern] as const))(
    'stand in each match of %s, which is short enough to be read around',
    (_, pattern) => {
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(`^(?:${pattern.source})$`)), (match) => {
          expect(needlesOf(pattern).some(({ text }) => match.includes(text))).toBe(true)
          expect(match.length).toBeLessThan(512)
        }),
      )
      expect(pattern.source).not.toMatch(/(?<!\\)[*+]|,\}/)
    },
  )
})
