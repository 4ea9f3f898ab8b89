import type { Contents } from '../../../core/message-mover.ts'
import { own } from '../../../core/own.ts'
import { findEnvelope, readEnvelope, writeHeld, writeNowhere, writeRestored } from './envelope.ts'
import type { Envelope, Head } from './envelope.ts'
import { FrameWriter } from './frames.ts'
import { channel } from './link.ts'
import { isOfAnother } from './properties.ts'
import { Refusal } from './refusal.ts'
import type { Seen } from './seen.ts'
import { Tally } from './tally.ts'

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
    `queue ${queue} holds a message that this version of the program did not put there. The message stays there`,
    'rabbitmqctl list_queues name messages consumers',
  )
}
