import { hasSimd, openNative } from './native.ts'
import type { Engine, Native } from './native.ts'

/** Searches for scans that follow one another. Each has a memory that is released late, so they are reused. */
export interface Searches {
  /** Returns a search in `size` bytes, compiled as told, else for this machine's processor */
  take(engine: Engine | undefined, size: number): Native
  /** Keeps a search for reuse, once nobody reads its bytes any more */
  give(native: Native): void
}

export function searches(): Searches {
  const idle: Native[] = []
  let fastest: Engine | null = null
  return {
    take(wanted, size) {
      const engine = wanted ?? (fastest ??= hasSimd() ? 'simd' : 'plain')
      const at = idle.findIndex((it) => it.engine === engine && it.bytes.length === size)
      return at >= 0 ? idle.splice(at, 1)[0]! : openNative(size, engine)
    },
    give(native) {
      idle.push(native)
    },
  }
}
