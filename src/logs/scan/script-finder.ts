import { anchorLength } from './anchor.ts'
import { formsOf, sought, standsAt } from './finder.ts'
import type { Finder, Hit } from './finder.ts'

const furthest = Math.max(...sought.map(({ anchor }) => anchor))

/** For each place of an anchor and each byte, the needles that may have it there, one bit each. */
function tables(): Uint32Array[] {
  return Array.from({ length: anchorLength }, (_, place) => {
    const table = new Uint32Array(256)
    sought.forEach(({ text, anchor, ignoreCase }, index) => {
      for (const form of formsOf(text.charCodeAt(anchor + place), ignoreCase)) table[form]! |= 1 << index
    })
    return table
  })
}

/** The finder where WebAssembly has no SIMD. */
export function scriptFinder(size: number): Finder {
  const bytes = new Uint8Array(size)
  const text = Buffer.from(bytes.buffer)
  const [first, second, third] = tables() as [Uint32Array, Uint32Array, Uint32Array]

  /** The first place in [at, to) where an anchor may be, or `to`. By itself, it becomes a third of what it takes elsewhere. */
  const candidate = (at: number, to: number): number => {
    while (at < to && (first[bytes[at]!]! & second[bytes[at + 1]!]! & third[bytes[at + 2]!]!) === 0) at += 1
    return at
  }
  return {
    bytes,
    find(from, to, end) {
      const hits: Hit[] = []
      const last = Math.min(to + furthest, end - anchorLength + 1)
      for (let at = candidate(from, last); at < last; at = candidate(at + 1, last)) {
        for (const needle of sought) {
          const begin = at - needle.anchor
          if (begin >= from && begin < to && begin + needle.text.length <= end && standsAt(bytes, begin, needle)) hits.push({ at: begin, needle })
        }
      }
      let lines = 0
      for (let at = text.indexOf(10, from); at >= 0 && at < to; at = text.indexOf(10, at + 1)) lines += 1
      return { hits: hits.sort((one, other) => one.at - other.at), lines }
    },
    lineBefore(from, to) {
      for (let at = to - 1; at >= from; at -= 1) {
        if ((at === 0 || bytes[at - 1] === 10) && bytes[at] !== 9 && bytes[at] !== 32) return at
      }
      return -1
    },
  }
}
