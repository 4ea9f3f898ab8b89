/** The clock of the service's machine. The service uses it for every date and every check of one. */
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
