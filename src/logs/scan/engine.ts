import type { Finder, Hit } from './finder.ts'
import { hasSimd, wasmFinder } from './wasm-finder.ts'
import { addHits, furthest, inOrder, table } from './finder.ts'
import { bothCases, placeOf, stride } from './grams.ts'

/** A way to search for needles; both ways give the same answers. */
export type Engine = 'wasm' | 'script'

/** Finders for scans that follow one another. Each has a memory that is released late, so they are reused. */
export interface Finders {
  /** Returns a finder of `size` bytes, with `engine`, else with the fastest one on this machine */
  take(engine: Engine | undefined, size: number): Finder
  /** Keeps a finder for reuse, once nobody reads its bytes any more */
  give(finder: Finder): void
}

export function finders(): Finders {
  const idle: { finder: Finder; engine: Engine }[] = []
  const engines = new Map<Finder, Engine>()
  let fastest: Engine | null = null
  return {
    take(wanted, size) {
      const engine = wanted ?? (fastest ??= hasSimd() ? 'wasm' : 'script')
      const at = idle.findIndex((it) => it.engine === engine && it.finder.bytes.length === size)
      if (at >= 0) return idle.splice(at, 1)[0]!.finder
      const finder = engine === 'wasm' ? wasmFinder(size) : scriptFinder(size)
      engines.set(finder, engine)
      return finder
    },
    give(finder) {
      idle.push({ finder, engine: engines.get(finder)! })
    },
  }
}

/** Returns the finder for machines where WebAssembly has no SIMD. */
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
