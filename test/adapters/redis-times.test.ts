import { describe, expect, test } from 'vitest'
import { decodeNumber } from '../../src/adapters/redis/sample.ts'
import { javaInteger, javaLong } from './java-numbers.ts'

describe('decodeNumber', () => {
  const numbers = [
    { what: 'a Long', bytes: javaLong(1_795_226_764_463), value: 1_795_226_764_463 },
    { what: 'a negative Long', bytes: javaLong(-5), value: -5 },
    { what: 'an Integer', bytes: javaInteger(1800), value: 1800 },
    { what: 'a negative Integer', bytes: javaInteger(-1), value: -1 },
    { what: 'digits', bytes: Buffer.from('1795226764463'), value: 1_795_226_764_463 },
    { what: 'typed JSON', bytes: Buffer.from('["java.lang.Long",1795226764463]'), value: 1_795_226_764_463 },
    { what: 'a cut Long', bytes: javaLong(1).subarray(0, 81), value: null },
    {
      what: 'another class',
      bytes: Buffer.concat([javaLong(1).subarray(0, 8), Buffer.from('java.lang.Thing'), Buffer.alloc(59)]),
      value: null,
    },
    { what: 'nothing', bytes: Buffer.alloc(0), value: null },
    { what: 'text', bytes: Buffer.from('soon'), value: null },
    { what: 'a date', bytes: Buffer.from('2026-11-21'), value: null },
  ]
  test.each(numbers)('$what', ({ bytes, value }) => {
    expect(decodeNumber(bytes)).toBe(value)
  })

  test('the two forms have the lengths that Java gives them', () => {
    expect([javaLong(0).length, javaInteger(0).length]).toEqual([82, 81])
  })
})
