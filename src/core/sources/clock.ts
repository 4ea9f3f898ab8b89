/** How far a clock is ahead of this machine's (negative: behind), and how sure that is. Both in milliseconds. */
export interface ClockReading {
  offsetMs: number
  uncertaintyMs: number
}
