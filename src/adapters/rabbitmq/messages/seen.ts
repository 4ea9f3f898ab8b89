import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { FrameWriter } from './frames.ts'
import { writePersistent } from './properties.ts'
import type { Properties } from './properties.ts'

/** what is repeated lies no further back than what was under way when a move was cut off, a few times */
const kept = 16_384

/**
 * What has come into a queue already, so that a message is known that a move which was cut off has put there too. Two
 * messages may be alike and both be meant: no more are left out than there are too many, and of these only what had
 * been delivered before.
 */
export class Seen {
  readonly #known = new Set<string>()
  #hash: Hash | null = null
  #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** whether there are more of them to be left out */
  get isSought(): boolean {
    return this.#most > 0
  }

  /** A message begins, of which this is to come. `user`: as of `writePersistent` */
  begin(routingKey: Buffer, properties: Properties, user: string | null): void {
    if (!this.isSought) return
    const out = new FrameWriter(1024)
    writePersistent(out, properties, user)
    this.#begin(routingKey, Buffer.concat(out.take()))
  }

  /** A message begins that has come before. */
  beginKnown(routingKey: Buffer, { bytes, start, end }: Properties): void {
    this.#begin(routingKey, bytes.subarray(start, end))
  }

  body(bytes: Buffer, start: number, end: number): void {
    this.#hash?.update(bytes.subarray(start, end))
  }

  /** It is complete. True: it has come before, and is to be left out; only one that is `doubtful` may be. */
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
