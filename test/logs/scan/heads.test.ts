import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineHeadReader } from '../../../src/logs/scan/line-head.ts'
import { openNative } from '../../../src/logs/scan/native.ts'

const two = (most: number): fc.Arbitrary<string> => fc.nat(most).map((number) => String(number).padStart(2, '0'))
/** Dates of few days and hours, some of which no clock shows, in all forms, so that many are like the one before. */
const date = fc
  .tuple(
    fc.constantFrom('2026-03-29', '2026-10-25', '2026-13-01'),
    fc.constantFrom(' ', 'T'),
    fc.constantFrom('00', '01', '02', '24'),
    two(61),
    two(61),
    fc.constantFrom('', '.123', ',007', '.5', '.123456'),
    fc.constantFrom('', 'Z', '+03:00'),
    fc.constantFrom(' ', '', 'x', '\t'),
  )
  .map(
    ([day, between, hour, minute, second, fraction, zone, after]) =>
      `${day}${between}${hour}:${minute}:${second}${fraction}${zone}${after}`,
  )
const before = fc.constantFrom(
  '',
  '',
  '',
  'api-1  | ',
  '[pod/api-0/api] ',
  'Nov 22 10:00:00 host api[1]: ',
  'Nov \x1b[0m22 10:00:00 host api[1]: ',
  '\x1b[32m',
  'ap\x1b[0mi | ',
  '{"time":"',
  ' ',
  'Caused by: ',
)
const line = fc.tuple(before, date, fc.constantFrom('INFO 1 --- text', '', '"}')).map((parts) => parts.join(''))
/** as a log is full of */
const usual = fc
  .tuple(fc.constantFrom('2026-03-29 01', '2026-10-25 02'), two(61), two(61), fc.constantFrom('.123', ',007', '.999'))
  .map(([hour, minute, second, fraction]) => `${hour}:${minute}:${second}${fraction}  INFO`)
const other = fc.constantFrom(
  '',
  'Fatal glibc error: CPU does not support x86-64-v3',
  'java.lang.IllegalStateException: x',
  'Caused by: x',
  'word',
  'word ',
  'a | b',
  'abc | d',
  '\tat x',
  '... 3 common frames omitted',
)

describe.each(['simd', 'plain'] as const)('heads that are known without being read, %s', (engine) => {
  const native = openNative(200, engine)
  const fill = (text: string): number => {
    native.bytes.fill(0x20)
    return Buffer.from(native.bytes.buffer, native.bytes.byteOffset, 200).write(text, 'latin1')
  }

  it.each(['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', null])('are those that are read, in %s', (timeZone) => {
    let known = 0
    fc.assert(
      fc.property(fc.array(fc.oneof(line, other, usual), { maxLength: 60 }), (lines) => {
        const read = lineHeadReader(timeZone)
        native.begin(-Infinity, Infinity)
        for (const text of lines) {
          const length = fill(text)
          const head = read(text)
          const at = native.timeOf(0, length)
          if (at !== null) {
            known += 1
            expect({ key: '', isKeySure: true, begins: true, isDated: true, at, looksFirst: true }).toEqual(head)
          } else if (head.at !== null) native.learn(0, head.at)
        }
      }),
      { numRuns: 500 },
    )
    expect(known > 0).toBe(timeZone !== null)
  })

  it('are none where a line goes on with a record', () => {
    const read = lineHeadReader('UTC')
    let without = 0
    fc.assert(
      fc.property(fc.oneof(line, other, fc.string({ unit: 'binary', maxLength: 40 })), (text) => {
        const length = fill(text)
        if (!native.goesOn(0, length)) return
        without += 1
        expect(read(Buffer.from(native.bytes.subarray(0, length)).toString('latin1')).begins).toBe(false)
      }),
      { numRuns: 3000 },
    )
    expect(without).toBeGreaterThan(0)
  })
})
