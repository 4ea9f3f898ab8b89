/** The clock of the service's machine. The service takes every date from it, and checks every date against it. */
export interface Clock {
  /** milliseconds ahead of real time; the lab changes it while the service runs */
  offsetMs: number
  /** epoch milliseconds */
  now(): number
}

export function createClock(offsetMs: number): Clock {
  const clock: Clock = { offsetMs, now: () => Date.now() + clock.offsetMs }
  return clock
}
