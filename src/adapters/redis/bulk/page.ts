import { redisFailure } from '../client.ts'
import type { Peer } from '../../failure.ts'
import { integerAt } from './wire.ts'

/** Keys (or members) as Redis sent them: consecutive bulk strings, the form in which arguments are also sent. */
export interface Page {
  bytes: Buffer
  count: number
}

export const noKeys: Page = { bytes: Buffer.alloc(0), count: 0 }

/** Splits a page into pieces of at most `most` keys. */
export function pieces(page: Page, most: number): Page[] {
  if (page.count <= most) return page.count === 0 ? [] : [page]
  const found: Page[] = []
  let begin = 0
  let count = 0
  eachKey(page, (_, __, end) => {
    count += 1
    if (count < most && end + 2 < page.bytes.length) return
    found.push({ bytes: page.bytes.subarray(begin, end + 2), count })
    begin = end + 2
    count = 0
  })
  return found
}

/** Calls `visit` with the place of each key: where its bulk string begins, and its own bytes. */
export function eachKey({ bytes }: Page, visit: (from: number, start: number, end: number) => void): void {
  let at = 0
  while (at < bytes.length) {
    let line = at + 1
    let length = 0
    for (; bytes[line] !== 0x0d; line += 1) length = length * 10 + (bytes[line]! - 0x30)
    const start = line + 2
    visit(at, start, start + length)
    at = start + length + 2
  }
}

function bulk(text: string | Buffer): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')])
}

/** Encodes one command. */
export function command(...words: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...words.map(bulk)])
}

/** Encodes a command whose last arguments are all keys of a page. */
export function commandOn(words: readonly (string | Buffer)[], page: Page): Buffer[] {
  const head = [Buffer.from(`*${words.length + page.count}\r\n`), ...words.map(bulk)]
  return [Buffer.concat(head), page.bytes]
}

/** Encodes one command for each key of a page. */
export function commandForEach(before: readonly string[], page: Page, after: readonly string[] = []): Buffer {
  const head = Buffer.concat([Buffer.from(`*${before.length + 1 + after.length}\r\n`), ...before.map(bulk)])
  const tail = Buffer.concat(after.map(bulk))
  const commands = Buffer.allocUnsafe(page.bytes.length + page.count * (head.length + tail.length))
  let at = 0
  eachKey(page, (from, _, end) => {
    at += head.copy(commands, at)
    at += page.bytes.copy(commands, at, from, end + 2)
    at += tail.copy(commands, at)
  })
  return commands
}

/** Returns the text of an error reply; null if the reply is not an error. */
export function errorIn(reply: Buffer): string | null {
  return reply[0] === 0x2d ? reply.toString('utf8', 1, reply.length - 2) : null
}

/** Throws if the reply is an error. Masks names of keys that it quotes, since these are credentials. */
export function assertAnswer(reply: Buffer, peer: Peer): void {
  const said = errorIn(reply)
  if (said === null) return
  const error = new Error(said.replace(/, with args beginning with:.*/s, '').replace(/:sessions:\S+/g, ':sessions:…'))
  error.name = 'ReplyError'
  throw redisFailure(error, peer)
}

export function integerIn(reply: Buffer, peer: Peer): number {
  assertAnswer(reply, peer)
  return integerAt(reply, 1, reply.length - 2)
}

/** Copies a list of keys or members out of a reply. `from` is where the list begins in it. */
export function listIn(reply: Buffer, from = 0): Page {
  const line = reply.indexOf(0x0d, from)
  return { count: Math.max(0, integerAt(reply, from + 1, line)), bytes: Buffer.from(reply.subarray(line + 2)) }
}

/** Returns the strings of a flat list; null for an absent one. */
export function stringsIn(reply: Buffer): (Buffer | null)[] {
  const strings: (Buffer | null)[] = []
  let at = reply.indexOf(0x0d) + 2
  while (at < reply.length) {
    const line = reply.indexOf(0x0d, at)
    const length = integerAt(reply, at + 1, line)
    strings.push(length < 0 ? null : reply.subarray(line + 2, line + 2 + length))
    at = line + 2 + (length < 0 ? 0 : length + 2)
  }
  return strings
}
