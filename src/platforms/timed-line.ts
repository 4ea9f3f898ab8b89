/** A line and when it was written, in nanoseconds since 1970, which engines and kubelets note before the line. */
export interface TimedLine {
  at: bigint
  text: string
}

const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: (.*))?$/s

/** Parses a line with its time; null for a message of the engine or the kubelet. */
export function timedLine(line: string): TimedLine | null {
  const [, seconds, fraction = '', zone, text = ''] = pattern.exec(line) ?? []
  const at = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(at) ? null : { at: nanoseconds(at) + BigInt(fraction.padEnd(9, '0')), text }
}

/** Converts milliseconds since 1970 to nanoseconds. */
export function nanoseconds(at: number): bigint {
  return BigInt(Math.floor(at)) * 1_000_000n
}

/**
 * Formats a time in nanoseconds, cut to the whole second. Kubernetes' API server passes on no more than that
 * (metav1.Time), and Podman leaves out a line of exactly the given time.
 */
export function wholeSecond(at: bigint): string {
  return `${new Date(Number(at / 1_000_000_000n) * 1000).toISOString().slice(0, 19)}Z`
}

/** How far the lines of one log were read, so that a stream that is opened again continues there. */
export class Position {
  #same = 0

  /** `at`: time of the last line, in nanoseconds since 1970; null if none was read */
  constructor(public at: bigint | null) {}

  note(at: bigint): void {
    this.#same = at === this.at ? this.#same + 1 : 1
    this.at = at
  }

  /**
   * Returns a test for each line of a new stream, in order: true if it was not read before. Several may have the same
   * time.
   */
  fresh(): (at: bigint) => boolean {
    const had = this.at
    let left = this.#same
    let isPast = had === null
    return (at) => {
      // after the first new line all are new, even if a clock was set back
      if (!isPast && had !== null) isPast = at > had || (at === had && left-- <= 0)
      return isPast
    }
  }
}
