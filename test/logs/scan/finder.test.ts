import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sought, standsAt } from '../../../src/logs/scan/finder.ts'
import type { Finder } from '../../../src/logs/scan/finder.ts'
import { scriptFinder } from '../../../src/logs/scan/engine.ts'
import { hasSimd, wasmFinder } from '../../../src/logs/scan/wasm-finder.ts'

const size = 4096
const finders: Readonly<Record<string, Finder>> = { script: scriptFinder(size), wasm: wasmFinder(size) }

/** Needles, what looks like them, and what is between them in logs. */
const piece = fc.oneof(
  fc.constantFrom(...sought.map(({ text }) => text)),
  fc.constantFrom(...sought.map(({ text }) => text.toUpperCase())),
  fc.constantFrom(...sought.map(({ text }) => text.slice(1))),
  fc.constantFrom(...sought.map(({ text }) => text.slice(0, -1))),
  fc.constantFrom('\n', '\n\t', '\n ', '\r\n', '\0', 'x'.repeat(15), '\t'),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

describe.each(Object.keys(finders))('the %s finder', (name) => {
  const finder = finders[name]!
  const fill = (content: Buffer): number => {
    // what was there before must not be found
    finder.bytes.fill(0x42)
    finder.bytes.set(content.subarray(0, size))
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
            .filter((it) => at + it.text.length <= end && standsAt(finder.bytes, at, it))
            .map((it) => [at, it.text]),
        )
        const { hits, lines, hasZero } = finder.find(from, to, end)
        expect(hits.map(({ at, needle }) => [at, needle.text])).toEqual(expected)
        expect(hasZero).toBe(places.some((at) => finder.bytes[at] === 0))
        expect(lines).toBe(places.filter((at) => finder.bytes[at] === 10).length)
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
        const { hits } = finder.find(0, size, size)
        expect(hits.filter(({ needle }) => needle.text === text).map((it) => it.at)).toEqual([
          at,
          size - text.length - at,
        ])
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
            (at === 0 || finder.bytes[at - 1] === 10) && !'\t '.includes(String.fromCharCode(finder.bytes[at]!))
          expect(finder.lineBefore(from, to)).toBe(places.findLast(begins) ?? -1)
        },
      ),
    )
  })
})

it('has more than one finder to compare here', () => {
  expect(hasSimd()).toBe(true)
})
