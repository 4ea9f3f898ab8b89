import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { Contents } from '../../../core/message-mover.ts'
import { own } from '../../../core/lookup.ts'
import type { Envelope, Head, Mark } from './envelope.ts'
import { findEnvelope, readEnvelope, writeHeld, writeNowhere, writeRestored } from './envelope.ts'
import { FrameWriter } from './frames.ts'
import { channel } from './link.ts'
import type { Properties } from './properties.ts'
import { isOfAnother, writePersistent } from './properties.ts'
import { Refusal } from './failure.ts'

/** bytes gathered before they are summed: a call for each message costs more than its sum */
const gatheredBytes = 65_536
/** bytes before routing key and properties, for the lengths of both and of the body */
const lengthsBytes = 16

/** messages remembered: a few times those under way when a move was cut off, which alone can repeat */
const remembered = 16_384

/**
 * Sums up messages as they pass, each attempt separately. A holding queue returns in order what an attempt put into it.
 * So one sum over all of it shows whether any message is missing, strange, altered or out of place.
 */
class Tally {
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
    const [oldest] = this.#known.size > remembered ? this.#known : []
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

/** Turns each delivered message into the one that is published in its place. */
export interface Conversion {
  head(out: FrameWriter, head: Head, redelivered: boolean): void
  body(out: FrameWriter, bytes: Buffer, start: number, end: number): void
  /** Ends the message, which is complete */
  end(out: FrameWriter): void
  /** as in `Moved` */
  readonly othersIds: number
  /** Messages that were not published, since they were there already */
  readonly leftOut: number
  /** Messages that were delivered again, after they had come before */
  readonly again: number
  contents(): Contents
}

/** Converts into envelopes, for the queue `to`. `user` is the only name allowed in a user_id; null for any. */
export function holding({
  to,
  user,
  attempt,
  frameMax,
}: {
  to: string
  user: string | null
  attempt: string
  frameMax: number
}): Conversion {
  const tally = new Tally()
  let othersIds = 0
  let place = 0
  return {
    head(out, head, redelivered) {
      if (isOfAnother(head.properties, user)) othersIds += 1
      place += 1
      const mark = { attempt, place, redelivered }
      tally.begin(mark, head.routingKey.subarray(1), head.properties, head.bodyBytes)
      writeHeld(out, { channel, exchange: '', routingKey: to }, head, mark, frameMax)
    },
    body(out, bytes, start, end) {
      tally.body(bytes, start, end)
      out.body(channel, bytes, start, end)
    },
    end: () => undefined,
    get othersIds() {
      return othersIds
    },
    leftOut: 0,
    again: 0,
    contents: () => tally.contents(),
  }
}

interface Restoring {
  from: string
  exchange: string
  user: string | null
  /** Detects repeats, which are left out; null to leave out none */
  seen: Seen | null
  /** as in `Move` */
  came: Readonly<Record<string, number>>
}

/** Returns a conversion out of the envelopes of queue `from`, through `exchange`. */
export function restoring({ from, exchange, user, seen, came }: Restoring): Conversion {
  const tally = new Tally()
  let othersIds = 0
  let leftOut = 0
  let again = 0
  let isAgain = false
  let gathering: { parts: Buffer[]; missing: number; bodyBytes: number; redelivered: boolean } | null = null
  /** a message that may be a repeat, held until its end shows */
  let doubtful: FrameWriter | null = null

  const restore = (out: FrameWriter, envelope: Envelope | null, bodyBytes: number, redelivered: boolean): void => {
    if (!envelope) throw notOurs(from)
    const { mark, routingKey, properties } = envelope
    isAgain = mark !== null && mark.place <= (own(came, mark.attempt) ?? 0)
    if (isAgain) return
    tally.begin(mark, routingKey, properties, bodyBytes)
    seen?.begin(routingKey, properties, user)
    doubtful = seen?.isSought && (redelivered || mark?.redelivered) ? new FrameWriter(1024) : null
    if (writeRestored(doubtful ?? out, { channel, exchange }, envelope, bodyBytes, user)) othersIds += 1
  }
  const pass = (out: FrameWriter, bytes: Buffer, start: number, end: number): void => {
    if (isAgain) return
    tally.body(bytes, start, end)
    seen?.body(bytes, start, end)
    ;(doubtful ?? out).body(channel, bytes, start, end)
  }
  return {
    head(out, { properties, bodyBytes }, redelivered) {
      const envelope = findEnvelope(properties)
      if (envelope && 'bytesBeforeBody' in envelope) {
        const missing = envelope.bytesBeforeBody
        if (missing > bodyBytes) throw notOurs(from)
        gathering = { parts: [], missing, bodyBytes: bodyBytes - missing, redelivered }
      } else restore(out, envelope, bodyBytes, redelivered)
    },
    body(out, bytes, start, end) {
      if (!gathering) return pass(out, bytes, start, end)
      const { parts, missing, bodyBytes, redelivered } = gathering
      const cut = Math.min(start + missing, end)
      parts.push(bytes.subarray(start, cut))
      gathering.missing -= cut - start
      if (gathering.missing > 0) return
      gathering = null
      const envelope = Buffer.concat(parts)
      restore(out, readEnvelope(envelope, 0, envelope.length), bodyBytes, redelivered)
      if (cut < end) pass(out, bytes, cut, end)
    },
    end(out) {
      if (isAgain) {
        again += 1
        return writeNowhere(out, channel)
      }
      const isRepeat = seen?.end(doubtful !== null) ?? false
      if (isRepeat) {
        leftOut += 1
        writeNowhere(out, channel)
      } else for (const part of doubtful?.take() ?? []) out.bytes(part)
      doubtful = null
    },
    get othersIds() {
      return othersIds
    },
    get leftOut() {
      return leftOut
    },
    get again() {
      return again
    },
    contents: () => tally.contents(),
  }
}

function notOurs(queue: string): Refusal {
  return new Refusal(
    `queue ${queue} contains a message that this version of testops-admin did not put there. The ` +
      'message stays in the queue',
    'rabbitmqctl list_queues name messages consumers',
  )
}
