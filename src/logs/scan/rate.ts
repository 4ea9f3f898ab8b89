/** How many lines there were over time. */
export interface Rate {
  /** milliseconds that one count stands for */
  readonly width: number
  /**
   * by the beginning of each stretch, in milliseconds since 1970, in their order; stretches without a line are left out
   */
  readonly counts: ReadonlyMap<number, number>
}

export interface RateCounter {
  add(at: number): void
  /** adds what another one counted */
  join(other: Rate): void
  rate(): Rate
}

/** so many stretches are kept apart */
const most = 512

/**
 * Counts in stretches of a second, or twice, four times, … as long where there are too many: the same ones in whatever
 * order it is told.
 */
export function rateCounter(): RateCounter {
  let width = 1000
  let counts = new Map<number, number>()
  /** lines of one stretch come one after the other: those of the last one are not in `counts` yet */
  let last = { index: -1, count: 0 }
  const put = (index: number, count: number): void => void counts.set(index, (counts.get(index) ?? 0) + count)
  const widen = (): void => {
    const before = counts
    counts = new Map()
    width *= 2
    for (const [index, count] of before) put(Math.floor(index / 2), count)
  }
  const settle = (): void => {
    if (last.count === 0) return
    put(last.index, last.count)
    last.count = 0
    while (counts.size > most) widen()
  }
  const add = (at: number, count: number): void => {
    const index = Math.floor(at / width)
    if (index !== last.index || last.count === 0) {
      settle()
      last = { index: Math.floor(at / width), count: 0 }
    }
    last.count += count
  }
  return {
    add: (at) => add(at, 1),
    join(other) {
      settle()
      // a wide stretch cannot be told apart among narrow ones
      while (width < other.width) widen()
      for (const [at, count] of other.counts) add(at, count)
    },
    rate() {
      settle()
      return {
        width,
        counts: new Map(
          [...counts].sort(([one], [other]) => one - other).map(([index, count]) => [index * width, count]),
        ),
      }
    },
  }
}
