import type { Finder } from './finder.ts'
import { scriptFinder } from './script-finder.ts'
import { hasSimd, wasmFinder } from './wasm-finder.ts'

/** How needles are looked for; the answers are the same. */
export type Engine = 'wasm' | 'script'

/**
 * Finders of scans that come one after the other: each has a memory, which is given back late, so they are used again.
 */
export interface Finders {
  /** one of so many bytes; by `engine`, else by the fastest that this machine has */
  take(engine: Engine | undefined, size: number): Finder
  /** nobody looks into its bytes any more */
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
