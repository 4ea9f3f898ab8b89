import { firstAbove } from '../../core/sorted.ts'

/** How many lines there were over time. */
export interface Rate {
  /** milliseconds that one count stands for */
  readonly width: number
  /** where each stretch begins, in milliseconds since 1970, in their order; those without a line are left out */
  readonly starts: Float64Array
  /** lines in each of these stretches */
  readonly counts: Float64Array
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
  // sorted numbers, not a map: each part of a log is counted and joined, and maps made most of the garbage
  const indexes: number[] = []
  const counts: number[] = []
  const widen = (): void => {
    width *= 2
    let kept = 0
    for (let from = 0; from < indexes.length; from += 1) {
      const index = Math.floor(indexes[from]! / 2)
      const count = counts[from]!
      if (kept > 0 && indexes[kept - 1] === index) counts[kept - 1]! += count
      else {
        indexes[kept] = index
        counts[kept] = count
        kept += 1
      }
    }
    indexes.length = counts.length = kept
  }
  const add = (at: number, count: number): void => {
    const index = Math.floor(at / width)
    // most lines come in their order
    let place = indexes.length
    if (place > 0 && indexes[place - 1]! > index) place = firstAbove(indexes, index)
    if (place > 0 && indexes[place - 1] === index) {
      counts[place - 1]! += count
      return
    }
    if (place === indexes.length) {
      indexes.push(index)
      counts.push(count)
    } else {
      indexes.splice(place, 0, index)
      counts.splice(place, 0, count)
    }
    while (indexes.length > most) widen()
  }
  return {
    add: (at) => add(at, 1),
    join({ width: theirs, starts, counts: lines }) {
      // a wide stretch cannot be told apart among narrow ones
      while (width < theirs) widen()
      for (let index = 0; index < starts.length; index += 1) add(starts[index]!, lines[index]!)
    },
    rate: () => ({
      width,
      starts: new Float64Array(indexes).map((it) => it * width),
      counts: new Float64Array(counts),
    }),
  }
}
