import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasSimd, openNative } from '../../../src/logs/scan/native.ts'
import type { Needle } from '../../../src/logs/scan/needles.ts'
import { sought } from '../../../src/logs/scan/needles.ts'

const size = 4096

function standsAt(bytes: Uint8Array, at: number, { text, ignoreCase }: Needle): boolean {
  const found = Buffer.from(bytes.subarray(at, at + text.length)).toString('latin1')
  const lowered = (it: string): string => it.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return ignoreCase ? lowered(found) === lowered(text) : found === text
}

/** Needles, what looks like them, and what is between them in logs. */
const piece = fc.oneof(
  fc.constantFrom(...sought.map(({ text }) => text)),
  fc.constantFrom(...sought.map(({ text }) => text.toUpperCase())),
  fc.constantFrom(...sought.map(({ text }) => text.slice(1))),
  fc.constantFrom(...sought.map(({ text }) => text.slice(0, -1))),
  fc.constantFrom('\n', '\n\t', '\n ', '\r\n', '\0', 'x'.repeat(15), '\t'),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

describe.each(['simd', 'plain'] as const)('the search, %s', (engine) => {
  const native = openNative(size, engine)
  const hitsIn = (from: number, to: number, end: number): { at: number; text: string }[] =>
    Array.from({ length: native.find(from, to, end).count }, (_, index) => ({
      at: native.hit(index).at,
      text: sought[native.needle(index)]!.text,
    }))
  const fill = (content: Buffer): number => {
    // what was there before must not be found
    native.bytes.fill(0x42)
    native.bytes.set(content.subarray(0, size))
    return Math.min(size, content.length)
  }

  it('finds what stands there, and counts lines', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.nat(200), fc.nat(600), (pieces, from, less) => {
        const end = fill(Buffer.from(pieces.join(''), 'latin1'))
        const to = Math.max(from, end - less)
        if (from > end) return
        const places = Array.from({ length: to - from }, (_, index) => from + index)
        const expected = places.flatMap((at) =>
          sought
            .filter((it) => at + it.text.length <= end && standsAt(native.bytes, at, it))
            .map(({ text }) => ({ at, text })),
        )
        expect(hitsIn(from, to, end)).toEqual(expected)
        const { lines, hasZero } = native.find(from, to, end)
        expect(hasZero).toBe(places.some((at) => native.bytes[at] === 0))
        expect(lines).toBe(places.filter((at) => native.bytes[at] === 10).length)
      }),
    )
  })

  it('finds each needle at each place of its bytes', () => {
    for (const { text, ignoreCase } of sought) {
      for (let at = 0; at < 80; at += 1) {
        const content = Buffer.alloc(size, 10)
        content.write(ignoreCase ? text.toUpperCase() : text, at)
        content.write(text, size - text.length - at)
        fill(content)
        const hits = hitsIn(0, size, size).filter((it) => it.text === text)
        expect(hits.map((it) => it.at)).toEqual([at, size - text.length - at])
      }
    }
  })

  it('knows where the last line begins that is not of a stack', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\n', '\t', ' ', 'x', 'x'.repeat(20)), { maxLength: 60 }),
        fc.nat(300),
        fc.nat(600),
        (pieces, from, to) => {
          fill(Buffer.from(pieces.join('').padEnd(700, '\t')))
          const places = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
          const begins = (at: number): boolean =>
            (at === 0 || native.bytes[at - 1] === 10) && !'\t '.includes(String.fromCharCode(native.bytes[at]!))
          expect(native.lineBefore(from, to)).toBe(places.findLast(begins) ?? -1)
        },
      ),
    )
  })
})

it('is compiled with SIMD here, too', () => {
  expect(hasSimd()).toBe(true)
})
