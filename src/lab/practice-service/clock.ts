/** The clock of the service's machine: everything that the service dates or judges goes by it. */
export interface Clock {
  /** ahead of the real time, in milliseconds; the lab changes it while the service runs */
  offsetMs: number
  /** epoch milliseconds */
  now(): number
}

export function createClock(offsetMs: number): Clock {
  const clock: Clock = { offsetMs, now: () => Date.now() + clock.offsetMs }
  return clock
}
