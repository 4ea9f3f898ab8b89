import type { Redis } from 'ioredis'
import { AdminError } from '../../../core/error.ts'
import { seconds } from '../../failure.ts'
import type { Peer } from '../../failure.ts'
import { redisFailure } from '../client.ts'

/**
 * RESP 2 over a connection that ioredis has opened, signed in and encrypted. It passes bytes in and out, without an
 * object for each of a million keys. The connection is ours alone from then on.
 */
export interface Wire {
  /**
   * Sends commands and passes each of their `replies` to `take`, unchanged and in order. The bytes are valid until
   * `take` returns. Several calls may be under way at a time. Rejects with what `take` throws, UNREACHABLE, or
   * TIMED_OUT if nothing arrives for a while.
   */
  send(commands: readonly Buffer[], replies: number, take: (reply: Buffer) => void): Promise<void>
}

interface Exchange {
  left: number
  /** Error that `take` threw; the remaining replies are still awaited, so that the next exchange gets its own */
  failed: Error | null
  take: (reply: Buffer) => void
  resolve: () => void
  reject: (reason: Error) => void
}

/** Takes over a server's connection. `timeoutMs` is how long nothing may arrive while a reply is awaited. */
export function wireOf(server: Redis, peer: Peer, timeoutMs: number): Wire {
  const { stream } = server
  const waiting: Exchange[] = []
  let broken: Error | null = null
  let timer: NodeJS.Timeout | null = null

  const fail = (error: Error): void => {
    if (broken) return
    broken = error
    if (timer) clearTimeout(timer)
    for (const { reject } of waiting.splice(0)) reject(error)
    stream.destroy()
  }
  const give = (reply: Buffer): void => {
    const exchange = waiting[0]
    if (!exchange) return
    try {
      if (!exchange.failed) exchange.take(reply)
    } catch (error) {
      exchange.failed = error as Error
    }
    exchange.left -= 1
    if (exchange.left > 0) return
    waiting.shift()
    if (exchange.failed) exchange.reject(exchange.failed)
    else exchange.resolve()
  }
  const reader = replyReader(give)
  stream.removeAllListeners('data')
  stream.on('data', (chunk: Buffer) => {
    timer?.refresh()
    if (!broken) reader(chunk)
    if (waiting.length === 0 && timer) {
      clearTimeout(timer)
      timer = null
    }
  })
  stream.on('error', (error: Error) => fail(redisFailure(error, peer)))
  stream.on('close', () => fail(redisFailure(new Error('Connection is closed.'), peer)))
  const late = (): void =>
    fail(
      new AdminError(
        'TIMED_OUT',
        `Redis at ${peer.where} did not answer within ${seconds(timeoutMs)}`,
        peer.suggestions,
      ),
    )

  return {
    async send(commands, replies, take) {
      if (broken) throw broken
      if (replies === 0) return
      timer ??= setTimeout(late, timeoutMs)
      const answered = new Promise<void>((resolve, reject) =>
        waiting.push({ left: replies, failed: null, take, resolve, reject }),
      )
      stream.cork()
      for (const command of commands) stream.write(command)
      stream.uncork()
      await answered
    },
  }
}

/** Returns a reader that cuts what arrives into whole replies, and looks at each byte once. */
function replyReader(give: (reply: Buffer) => void): (chunk: Buffer) => void {
  let buffer = Buffer.allocUnsafe(1 << 18)
  let start = 0
  let end = 0
  /** where reading continues, and how many elements the current reply still lacks */
  let at = 0
  let lacking = 1

  const isWhole = (): boolean => {
    while (lacking > 0) {
      let line = at
      while (line < end && buffer[line] !== 0x0d) line += 1
      if (line + 2 > end) return false
      const type = buffer[at]
      if (type === 0x24 || type === 0x2a) {
        const length = integerAt(buffer, at + 1, line)
        const next = line + 2 + (type === 0x24 && length >= 0 ? length + 2 : 0)
        if (next > end) return false
        lacking += type === 0x2a && length > 0 ? length - 1 : -1
        at = next
      } else {
        lacking -= 1
        at = line + 2
      }
    }
    return true
  }
  return (chunk) => {
    if (end + chunk.length > buffer.length) {
      const size = end - start + chunk.length
      const roomier = size > buffer.length / 2 ? Buffer.allocUnsafe(2 * size) : buffer
      buffer.copy(roomier, 0, start, end)
      buffer = roomier
      end -= start
      at -= start
      start = 0
    }
    chunk.copy(buffer, end)
    end += chunk.length
    while (start < end && isWhole()) {
      const reply = buffer.subarray(start, at)
      start = at
      lacking = 1
      give(reply)
    }
    if (start === end) start = end = at = 0
  }
}

/** Parses a decimal number between two places. */
export function integerAt(bytes: Buffer, from: number, to: number): number {
  const isNegative = bytes[from] === 0x2d
  let value = 0
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) value = value * 10 + (bytes[at]! - 0x30)
  return isNegative ? -value : value
}
