import type { Moving } from '../../core/moving.ts'

interface LayerCount {
  /** null: the line is about no layer */
  see(this: void, line: string): Moving | null
  amount(this: void): { done: number; total: number }
}

/** Counts the layers of an image by the lines of `docker pull` or `podman pull`. */
export function layersIn(): LayerCount {
  const all = new Set<string>()
  const done = new Set<string>()
  return {
    see(line) {
      const [, layer, state = ''] =
        /^([0-9a-f]{12}): (.*)$/.exec(line) ??
        /^Copying (?:blob|config) (?:sha256:)?([0-9a-f]{10,64}) ?(.*)$/.exec(line) ??
        []
      if (layer === undefined) return null
      all.add(layer)
      if (/^(?:Pull complete|Already exists|done)/.test(state)) done.add(layer)
      return { done: done.size, total: all.size, unit: 'layers' }
    },
    amount: () => ({ done: done.size, total: all.size }),
  }
}
