import { addHits, furthest, inOrder, table } from './finder.ts'
import type { Finder, Hit } from './finder.ts'
import { bothCases, placeOf, stride } from './grams.ts'

/** The finder where WebAssembly has no SIMD. */
export function scriptFinder(size: number): Finder {
  const bytes = new Uint8Array(size)
  const text = Buffer.from(bytes.buffer)
  const { factor, grams } = table

  const gramAt = (at: number): number =>
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24) | bothCases) >>> 0
  return {
    bytes,
    find(from, to, end) {
      const hits: Hit[] = []
      const last = Math.min(to + furthest, end)
      for (let at = from; at < last; at += stride) {
        const gram = gramAt(at)
        const place = placeOf(gram, factor)
        if (grams[place] === gram) addHits(hits, bytes, at, place, from, to, end)
      }
      let lines = 0
      for (let at = text.indexOf(10, from); at >= 0 && at < to; at = text.indexOf(10, at + 1)) lines += 1
      const zero = text.indexOf(0, from)
      return { hits: inOrder(hits), lines, hasZero: zero >= 0 && zero < to }
    },
    lineBefore(from, to) {
      for (let at = to - 1; at >= from; at -= 1) {
        if ((at === 0 || bytes[at - 1] === 10) && bytes[at] !== 9 && bytes[at] !== 32) return at
      }
      return -1
    },
  }
}
