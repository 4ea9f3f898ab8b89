import type { ScanMatch } from './document.ts'

const heights = ['▁', '▂', '▃', '▅', '▇']

/** A small chart of lines over time. */
export interface Bars {
  text: string
  /** the most in one bar */
  most: number
  /** milliseconds that one bar stands for */
  width: number
}

/** What is rarer than this a bar does not tell better than the words beside it. */
const least = 3

/** From one moment to another, in so many columns; null where there is too little to show. */
export function barsOf(
  { rate, count, untimed }: Pick<ScanMatch, 'rate' | 'count' | 'untimed'>,
  from: string,
  to: string,
  columns: number,
): Bars | null {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (count - untimed < least || !(end > start)) return null
  const step = Math.max(rate.seconds * 1000, Math.ceil((end - start + 1) / columns))
  const bars = Array.from({ length: Math.ceil((end - start + 1) / step) }, () => 0)
  for (const { at, lines } of rate.counts) {
    // a stretch may begin before the first line of it
    const index = Math.min(bars.length - 1, Math.max(0, Math.floor((Date.parse(at) - start) / step)))
    bars[index]! += lines
  }
  const most = Math.max(...bars)
  if (bars.filter((lines) => lines > 0).length < 2) return null
  return {
    text: bars.map((lines) => (lines === 0 ? ' ' : heights[Math.ceil((lines / most) * heights.length) - 1]!)).join(''),
    most,
    width: step,
  }
}
