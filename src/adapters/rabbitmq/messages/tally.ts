import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import type { Contents } from '../../../core/message-mover.ts'
import type { Mark } from './envelope.ts'
import type { Properties } from './properties.ts'

/** bytes gathered before they are summed: a call for each message costs more than its sum */
const gatheredBytes = 65_536
/** bytes before routing key and properties, for the lengths of both and of the body */
const lengthsBytes = 16

/**
 * Sums up messages as they pass, each attempt separately. A holding queue returns in order what an attempt put into it.
 * So one sum over all of it shows whether any message is missing, strange, altered or out of place.
 */
export class Tally {
  readonly #sums = new Map<string, Sum>()
  #current: Sum | null = null

  /** Begins a message. `mark` is null if its envelope has none. */
  begin(mark: Mark | null, routingKey: Buffer, properties: Properties, bodyBytes: number): void {
    const attempt = mark?.attempt ?? ''
    // most messages are of the same attempt as the one before
    if (this.#current?.attempt !== attempt) {
      this.#current = this.#sums.get(attempt) ?? new Sum(attempt)
      this.#sums.set(attempt, this.#current)
    }
    this.#current.begin(mark?.place ?? this.#current.count + 1, routingKey, properties, bodyBytes)
  }

  /** Adds a part of its body. */
  body(bytes: Buffer, start: number, end: number): void {
    this.#current?.add(bytes, start, end)
  }

  /** Returns the sums of all that has passed. Nothing can pass afterwards. */
  contents(): Contents {
    return Object.fromEntries(
      [...this.#sums].map(([attempt, sum]) => [attempt, { count: sum.count, last: sum.last, digest: sum.digest() }]),
    )
  }
}

class Sum {
  readonly attempt: string
  readonly #hash: Hash = createHash('sha256')
  readonly #gathered = Buffer.allocUnsafe(gatheredBytes)
  #length = 0
  count = 0
  last = 0

  constructor(attempt: string) {
    this.attempt = attempt
  }

  begin(place: number, routingKey: Buffer, { bytes, start, end }: Properties, bodyBytes: number): void {
    this.count += 1
    this.last = Math.max(this.last, place)
    if (this.#length + lengthsBytes > gatheredBytes) this.#flush()
    const lengths = this.#gathered
    lengths.writeUInt32BE(routingKey.length, this.#length)
    lengths.writeUInt32BE(end - start, this.#length + 4)
    lengths.writeDoubleBE(bodyBytes, this.#length + 8)
    this.#length += lengthsBytes
    this.add(routingKey, 0, routingKey.length)
    this.add(bytes, start, end)
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (this.#length + end - start > gatheredBytes) this.#flush()
    if (end - start > gatheredBytes) return void this.#hash.update(bytes.subarray(start, end))
    bytes.copy(this.#gathered, this.#length, start, end)
    this.#length += end - start
  }

  digest(): string {
    this.#flush()
    return this.#hash.digest('hex')
  }

  #flush(): void {
    this.#hash.update(this.#gathered.subarray(0, this.#length))
    this.#length = 0
  }
}
