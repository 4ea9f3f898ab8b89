import type { ClockReading } from '../core/sources.ts'

/** One reading of another clock. */
export interface ClockSample {
  /** Epoch milliseconds on the other clock, and on ours when the request left */
  theirs: number
  before: number
  tookMs: number
}

/** Measures the offset of another clock. Calls `read` three times for its time in epoch milliseconds. */
export async function readClock(read: () => Promise<number>): Promise<ClockReading> {
  const samples: ClockSample[] = []
  while (samples.length < 3) {
    const before = Date.now()
    const started = performance.now()
    const theirs = await read()
    samples.push({ theirs, before, tookMs: performance.now() - started })
  }
  return offsetFrom(samples, 0)
}

/**
 * Combines several readings of one clock. The answer is assumed to come from the middle of the fastest round trip.
 * `granularityMs` is the step to which that clock rounds down.
 */
export function offsetFrom(samples: readonly ClockSample[], granularityMs: number): ClockReading {
  let earliest = -Infinity
  let latest = Infinity
  let best: ClockReading = { offsetMs: 0, uncertaintyMs: Infinity }
  for (const { theirs, before, tookMs } of samples) {
    // every answer bounds the offset from both sides; our own clock is truncated to the millisecond
    const low = theirs - (before + 1 + tookMs)
    const high = theirs + granularityMs - before
    const reading = between(low, high)
    if (reading.uncertaintyMs < best.uncertaintyMs) best = reading
    earliest = Math.max(earliest, low)
    latest = Math.min(latest, high)
  }
  // bounds that contradict each other mean that a clock was set in between
  return earliest <= latest ? between(earliest, latest) : best
}

function between(low: number, high: number): ClockReading {
  return { offsetMs: round((low + high) / 2), uncertaintyMs: Math.max(1, round((high - low) / 2)) }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}
