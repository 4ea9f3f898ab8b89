import { findEnvelope, readEnvelope, writeHeld, writeRestored } from './envelope.ts'
import type { Envelope, Head } from './envelope.ts'
import type { FrameWriter } from './frames.ts'
import { channel } from './link.ts'
import { isOfAnother } from './properties.ts'
import { Refusal } from './refusal.ts'

/** Turns each delivered message into the one that is published in its stead. */
export interface Conversion {
  head(out: FrameWriter, head: Head): void
  body(out: FrameWriter, bytes: Buffer, start: number, end: number): void
  /** messages whose user_id is of another user than `user` */
  readonly ofAnother: number
}

/** Into envelopes, for the queue `to`. */
export function holding({ to, user, frameMax }: { to: string; user: string; frameMax: number }): Conversion {
  let ofAnother = 0
  return {
    head(out, head) {
      if (isOfAnother(head.properties, user)) ofAnother += 1
      writeHeld(out, { channel, exchange: '', routingKey: to }, head, frameMax)
    },
    body: (out, bytes, start, end) => out.body(channel, bytes, start, end),
    get ofAnother() {
      return ofAnother
    },
  }
}

/** Out of the envelopes of queue `from`, through `exchange`. */
export function restoring({ from, exchange, user }: { from: string; exchange: string; user: string }): Conversion {
  let ofAnother = 0
  let gathering: { parts: Buffer[]; missing: number; bodyBytes: number } | null = null

  const restore = (out: FrameWriter, envelope: Envelope | null, bodyBytes: number): void => {
    if (!envelope) throw notOurs(from)
    if (writeRestored(out, { channel, exchange }, envelope, bodyBytes, user)) ofAnother += 1
  }
  return {
    head(out, { properties, bodyBytes }) {
      const envelope = findEnvelope(properties)
      if (envelope && 'bytesBeforeBody' in envelope) {
        const missing = envelope.bytesBeforeBody
        if (missing > bodyBytes) throw notOurs(from)
        gathering = { parts: [], missing, bodyBytes: bodyBytes - missing }
      } else restore(out, envelope, bodyBytes)
    },
    body(out, bytes, start, end) {
      if (!gathering) return void out.body(channel, bytes, start, end)
      const { parts, missing, bodyBytes } = gathering
      const cut = Math.min(start + missing, end)
      parts.push(bytes.subarray(start, cut))
      gathering.missing -= cut - start
      if (gathering.missing > 0) return
      gathering = null
      const envelope = Buffer.concat(parts)
      restore(out, readEnvelope(envelope, 0, envelope.length), bodyBytes)
      if (cut < end) out.body(channel, bytes, cut, end)
    },
    get ofAnother() {
      return ofAnother
    },
  }
}

function notOurs(queue: string): Refusal {
  return new Refusal(
    `queue ${queue} holds a message that this program has not put there, or that another version of it has: it stays where it is`,
    'rabbitmqctl list_queues name messages consumers',
  )
}
