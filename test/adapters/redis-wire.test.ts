import { Duplex } from 'node:stream'
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { assertAnswer, errorIn, integerIn, listIn } from '../../src/adapters/redis/bulk/page.ts'
import { wireOf } from '../../src/adapters/redis/bulk/wire.ts'
import type { Wire } from '../../src/adapters/redis/bulk/wire.ts'
import type { Peer } from '../../src/adapters/failure.ts'
import { failureOf } from './failure-of.ts'

const peer: Peer = {
  what: 'Redis',
  host: 'redis.example.org',
  port: 6379,
  where: 'redis.example.org:6379/0',
  suggestions: [],
}

/** A wire whose other end is the test's. */
function ends(timeoutMs = 1000): { wire: Wire; stream: Duplex; answer: (text: string, pieces?: number) => void } {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  const wire = wireOf({ stream } as unknown as Redis, peer, timeoutMs)
  const answer = (text: string, pieces = text.length): void => {
    for (let at = 0; at < text.length; at += pieces) stream.push(Buffer.from(text.slice(at, at + pieces)))
  }
  return { wire, stream, answer }
}

const replies = [
  '*2\r\n$1\r\n7\r\n*2\r\n$3\r\na:1\r\n$4\r\n\r\n:2\r\n',
  ':42\r\n',
  '-ERR no\r\n',
  '*3\r\n$-1\r\n$0\r\n\r\n$-1\r\n',
  '*0\r\n',
  '*-1\r\n',
  '+OK\r\n',
  '$-1\r\n',
]

describe('replies are cut where they end', () => {
  test.each([1, 2, 3, 7, 1000])('arriving in pieces of %i bytes', async (pieces) => {
    const { wire, answer } = ends()
    const seen: string[] = []
    const first = wire.send([Buffer.from('x')], 3, (reply) => void seen.push(reply.toString()))
    const second = wire.send([Buffer.from('x')], replies.length - 3, (reply) => void seen.push(reply.toString()))
    answer(replies.join(''), pieces)
    await Promise.all([first, second])
    expect(seen).toEqual(replies)
  })

  test('of any size', async () => {
    const { wire, answer } = ends()
    const large = `$${3_000_000}\r\n${'x'.repeat(3_000_000)}\r\n`
    const sizes: number[] = []
    const sent = wire.send([Buffer.from('x')], 3, (reply) => void sizes.push(reply.length))
    answer(`${large}:1\r\n${large}`, 65_536)
    await sent
    expect(sizes).toEqual([large.length, 4, large.length])
  })
})

test('what one exchange throws is not taken for the next', async () => {
  const { wire, answer } = ends()
  const numbers: number[] = []
  const first = wire.send([Buffer.from('x')], 3, (reply) => void numbers.push(integerIn(reply, peer)))
  const second = wire.send([Buffer.from('x')], 1, (reply) => void numbers.push(integerIn(reply, peer)))
  answer(':1\r\n-NOPERM no\r\n:3\r\n:4\r\n')
  expect(await failureOf(first)).toBe(
    'FORBIDDEN Redis at redis.example.org:6379/0 denies this user a required permission: NOPERM no',
  )
  await second
  expect(numbers).toEqual([1, 4])
})

test('silence and a closed connection have their reasons', async () => {
  const silent = ends(50)
  expect(await failureOf(silent.wire.send([Buffer.from('x')], 1, () => undefined))).toBe(
    'TIMED_OUT Redis at redis.example.org:6379/0 did not answer within 0.1 s',
  )
  const { wire, stream } = ends()
  const sent = failureOf(wire.send([Buffer.from('x')], 1, () => undefined))
  stream.destroy()
  expect(await sent).toBe('UNREACHABLE Redis at redis.example.org:6379/0 closed the connection')
  expect(await failureOf(wire.send([Buffer.from('x')], 1, () => undefined))).toBe(
    'UNREACHABLE Redis at redis.example.org:6379/0 closed the connection',
  )
})

test('an error names no key', async () => {
  const reply = Buffer.from(
    "-ERR unknown command 'UNLINK', with args beginning with: 'spring:session:sessions:secret-id' \r\n",
  )
  const other = Buffer.from('-NOPERM no access to spring:session:sessions:secret-id\r\n')
  const failures = await Promise.all(
    [reply, other].map(async (it) => failureOf((async () => assertAnswer(it, peer))())),
  )
  expect(failures).toEqual([
    'UNAVAILABLE Redis at redis.example.org:6379/0 does not know the command UNLINK: it has been renamed or disabled',
    'FORBIDDEN Redis at redis.example.org:6379/0 denies this user a required permission: NOPERM no access to ' +
      'spring:session:sessions:…',
  ])
  expect([errorIn(Buffer.from(':1\r\n')), listIn(Buffer.from('*1\r\n$1\r\na\r\n'))]).toEqual([
    null,
    { count: 1, bytes: Buffer.from('$1\r\na\r\n') },
  ])
})
