/** When a line was written, in nanoseconds since 1970, as engines and kubelets note it before the line itself. */
export interface TimedLine {
  at: bigint
  text: string
}

const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: (.*))?$/s

/** Null if it is not such a line, but a message of the engine or the kubelet. */
export function timedLine(line: string): TimedLine | null {
  const [, seconds, fraction = '', zone, text = ''] = pattern.exec(line) ?? []
  const at = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(at) ? null : { at: nanoseconds(at) + BigInt(fraction.padEnd(9, '0')), text }
}

/** `at`: milliseconds */
export function nanoseconds(at: number): bigint {
  return BigInt(Math.floor(at)) * 1_000_000n
}

/**
 * The whole second of it: more than that the API server of Kubernetes does not hand on (metav1.Time), and Podman leaves
 * out what is just of that time.
 */
export function wholeSecond(at: bigint): string {
  return `${new Date(Number(at / 1_000_000_000n) * 1000).toISOString().slice(0, 19)}Z`
}

/** How far the lines of one log were had, so that a stream of them that is opened anew goes on there. */
export class Position {
  #same = 0

  /** null: nothing yet */
  constructor(public at: bigint | null) {}

  note(at: bigint): void {
    this.#same = at === this.at ? this.#same + 1 : 1
    this.at = at
  }

  /**
   * Tells of each line of a new stream, in their order, whether it was not had before; several may bear the same time.
   */
  fresh(): (at: bigint) => boolean {
    const had = this.at
    let left = this.#same
    let isPast = had === null
    return (at) => {
      // after the first new one all are, even where a clock was set back
      if (!isPast && had !== null) isPast = at > had || (at === had && left-- <= 0)
      return isPast
    }
  }
}
