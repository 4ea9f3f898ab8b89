import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { tellLine, write } from '../../src/cli/write.ts'

const pieces = function* (count: number, made: () => void): Generator<string> {
  for (let at = 0; at < count; at += 1) {
    made()
    yield `${at} ${'x'.repeat(1000)}\n`
  }
}

test('all of it is written, and nothing waits in memory for who is slow', async () => {
  let [made, taken, most] = [0, 0, 0]
  const slow = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      taken += text.split('\n').length - 1
      most = Math.max(most, made - taken)
      setImmediate(done)
    },
  })
  await write(
    slow,
    pieces(10_000, () => (made += 1)),
  )
  expect([made, taken]).toEqual([10_000, 10_000])
  expect(most).toBeLessThan(100)
})

test('it ends where nobody takes any more', async () => {
  let made = 0
  const broken = new Writable({ write: (_text, _, done) => done(new Error('EPIPE')) })
  broken.on('error', () => undefined)
  await write(
    broken,
    pieces(10_000, () => (made += 1)),
  )
  expect(made).toBeLessThan(100)
})

test.each([
  {
    where: 'a narrow terminal',
    to: { isTTY: true, columns: 40 },
    said: 'The journal is only on this machine: the\nlab has none\n',
  },
  { where: 'no terminal', to: {}, said: 'The journal is only on this machine: the lab has none\n' },
])('a sentence on $where', ({ to, said }) => {
  let printed = ''
  tellLine(
    { ...to, write: (text: string) => (printed += text) },
    'The journal is only on this machine: the lab has none',
  )
  expect(printed).toBe(said)
})
