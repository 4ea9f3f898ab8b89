import { addHits, furthest, inOrder, table } from './finder.ts'
import type { Finder, Hit } from './finder.ts'
import code from './finder.wat'
import { tableSize } from './grams.ts'

/**
 * Bytes of a page of memory; where our bytes begin, after the tables and the notes (finder.wat); bytes read past them
 */
const [page, begin, past] = [65_536, 131_072, 128]
const notes = 3 * tableSize * 4
const room = (begin - notes) / 4 - 64

interface Module {
  readonly lineBefore: (from: number, to: number) => number
  readonly find: (from: number, to: number, room: number, factor: number) => number
  readonly newlines: (from: number, to: number) => number
  readonly reached: { readonly value: number }
  readonly zero: { readonly value: number }
}

/** True if this machine's processor has what the module needs: V8 requires SSE4.1 for it. */
export function hasSimd(): boolean {
  return WebAssembly.validate(code)
}

/** Returns the finder in WebAssembly. Throws RangeError for more bytes than a note can address. */
export function wasmFinder(size: number): Finder {
  if (size + past > 1 << 20) throw new RangeError(`a finder has at most ${(1 << 20) - past} bytes, not ${size}`)
  const pages = Math.ceil((begin + size + past) / page)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { scan: { memory } })
  const { find, lineBefore, newlines, reached, zero } = exports as Module
  const bytes = new Uint8Array(memory.buffer, begin, size)
  const found = new Uint32Array(memory.buffer, notes, room)
  ;[table.grams, table.others, table.distances].forEach((numbers, index) =>
    new Uint8Array(memory.buffer).set(new Uint8Array(numbers.buffer), index * tableSize * 4),
  )

  return {
    bytes,
    find(from, to, end) {
      const hits: Hit[] = []
      const last = Math.min(to + furthest, end)
      for (let next = from; next < last; next = reached.value - begin) {
        const count = find(next + begin, last + begin, room, table.factor)
        for (let index = 0; index < count; index += 1) {
          const note = found[index]!
          addHits(hits, bytes, note >>> 12, note & (tableSize - 1), from, to, end)
        }
      }
      const lines = newlines(from + begin, to + begin)
      return { hits: inOrder(hits), lines, hasZero: zero.value === 1 }
    },
    lineBefore(from, to) {
      // notes, which are no newline, come before our bytes; the first line begins there all the same
      const at = lineBefore(from + begin, to + begin)
      if (at >= 0) return at - begin
      return from === 0 && to > 0 && bytes[0] !== 9 && bytes[0] !== 32 ? 0 : -1
    },
  }
}
