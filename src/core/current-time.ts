let recorded: number | null = null

/**
 * Returns the time by which a deployment is judged, in milliseconds since 1970: this machine's, or the one at which the
 * answers of a report were recorded.
 */
export function currentTime(): number {
  return recorded ?? Date.now()
}

/** Makes `currentTime` return the time of a report for the rest of the process; null: this machine's again. */
export function judgeAsOf(time: Date | null): void {
  recorded = time?.getTime() ?? null
}
