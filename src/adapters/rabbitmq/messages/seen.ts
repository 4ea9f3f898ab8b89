import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { FrameWriter } from './frames.ts'
import { writePersistent } from './properties.ts'
import type { Properties } from './properties.ts'

/** messages remembered: a few times those under way when a move was cut off, which alone can repeat */
const kept = 16_384

/**
 * Detects messages that a move which was cut off has already put into a queue. Two equal messages may both be intended.
 * So it leaves out no more than there are too many, and only redelivered ones.
 */
export class Seen {
  readonly #known = new Set<string>()
  #hash: Hash | null = null
  #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** True if there are more repeats to leave out */
  get isSought(): boolean {
    return this.#most > 0
  }

  /** Begins a message by what is to be published of it. `user` is as in `writePersistent`. */
  begin(routingKey: Buffer, properties: Properties, user: string | null): void {
    if (!this.isSought) return
    const out = new FrameWriter(1024)
    writePersistent(out, properties, user)
    this.#begin(routingKey, Buffer.concat(out.take()))
  }

  /** Begins a message that is already in the queue. */
  beginKnown(routingKey: Buffer, { bytes, start, end }: Properties): void {
    this.#begin(routingKey, bytes.subarray(start, end))
  }

  body(bytes: Buffer, start: number, end: number): void {
    this.#hash?.update(bytes.subarray(start, end))
  }

  /** Ends a message. Returns true if it came before, and must be left out; only a `doubtful` one can be. */
  end(doubtful: boolean): boolean {
    const sum = this.#hash?.digest('base64')
    this.#hash = null
    if (sum === undefined) return false
    const isRepeat = doubtful && this.#known.has(sum)
    if (isRepeat) this.#most -= 1
    this.#known.delete(sum)
    this.#known.add(sum)
    const [oldest] = this.#known.size > kept ? this.#known : []
    if (oldest !== undefined) this.#known.delete(oldest)
    return isRepeat
  }

  #begin(routingKey: Buffer, properties: Buffer): void {
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(routingKey.length)
    lengths.writeUInt32BE(properties.length, 4)
    this.#hash = createHash('sha256').update(lengths).update(routingKey).update(properties)
  }
}
