import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { isIn, messagesIn, turns } from '../../../src/cli/mcp/serve.ts'

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

async function read(...blocks: readonly (string | Uint8Array)[]): Promise<{ lines: string[]; answers: unknown[] }> {
  const output = new PassThrough()
  let written = ''
  output.setEncoding('utf8').on('data', (text: string) => (written += text))
  async function* input(): AsyncGenerator<Uint8Array> {
    for (const block of blocks) yield Buffer.from(block as string)
  }
  const lines: string[] = []
  for await (const line of messagesIn(input(), output)) lines.push(line)
  const answers = written.split('\n').filter(Boolean)
  return { lines, answers: answers.map((line) => JSON.parse(line) as unknown) }
}

const refused = (code: number, message: string, id: unknown = null): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
const noMessage = 'Invalid request: the line is no message of JSON-RPC 2.0'
const tooLong = 'Invalid request: longer than 1000000 bytes'

describe('of the input', () => {
  test('messages are yielded line by line, however they come in', async () => {
    const bytes = Buffer.from(`${ping}\r\n\n${ping.replace('ping', 'пинг')}\n`)
    expect(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual({
      lines: [`${ping}\r\n`, `${ping.replace('ping', 'пинг')}\n`],
      answers: [],
    })
  })

  test.each([
    ['rubbish', refused(-32700, 'Parse error: the line is not JSON')],
    [Uint8Array.of(0xff, 0x00, 0xfe), refused(-32700, 'Parse error: the line is not JSON')],
    ['null', refused(-32600, noMessage)],
    ['[]', refused(-32600, noMessage)],
    ['7', refused(-32600, noMessage)],
    [`[${ping}]`, refused(-32600, noMessage)],
    ['{"id":"x"}', refused(-32600, noMessage, 'x')],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', refused(-32600, noMessage)],
    ['{"jsonrpc":"1.0","id":3,"method":"ping"}', refused(-32600, noMessage, 3)],
  ])('%s is answered with an error, and the next line counts', async (line, answer) => {
    expect(await read(line, '\n', `${ping}\n`)).toEqual({ lines: [`${ping}\n`], answers: [answer] })
  })

  test('a line that is too long is left out, in one block or in many', async () => {
    const long = 'x'.repeat(1_000_001)
    const expected = { lines: [`${ping}\n`], answers: [refused(-32600, tooLong)] }
    expect(await read(`${long}\n${ping}\n`)).toEqual(expected)
    expect(await read(...Array.from({ length: 40 }, () => long), `\n${ping}\n`)).toEqual(expected)
  })

  test('a last line without an end is no message', async () => {
    expect(await read(ping)).toEqual({ lines: [], answers: [] })
  })
})

describe('turns', () => {
  const never = new AbortController().signal
  const open = (): { promise: Promise<void>; end: () => void } => {
    let end: () => void = () => undefined
    const promise = new Promise<void>((resolve) => (end = resolve))
    return { promise, end }
  }

  test('let few run, a few wait in their order, and no more', async () => {
    const turn = turns(2, 2)
    const begun: number[] = []
    const doors = [open(), open(), open(), open()]
    const all = doors.map(async (door, at) =>
      turn(never, async () => {
        begun.push(at)
        await door.promise
        if (at === 0) throw new Error('failed')
      }),
    )
    all[0]!.catch(() => undefined)
    await expect(turn(never, async () => undefined)).rejects.toMatchObject({
      code: 'EXHAUSTED',
      message: '2 calls run and 2 wait: call again when some of them have ended',
    })
    expect(begun).toEqual([0, 1])
    doors[0]!.end()
    await expect(all[0]).rejects.toThrow('failed')
    expect(begun).toEqual([0, 1, 2])
    for (const { end } of doors) end()
    await Promise.allSettled(all)
    expect(begun).toEqual([0, 1, 2, 3])
    expect(await turn(never, async () => 'free')).toBe('free')
  })

  test('are given up by a call that is cancelled while it waits', async () => {
    const turn = turns(1, 2)
    const [door, cancel] = [open(), new AbortController()]
    const first = turn(never, async () => door.promise)
    const second = turn(cancel.signal, async () => 'ran')
    const third = turn(never, async () => 'third')
    cancel.abort(new Error('cancelled'))
    await expect(second).rejects.toThrow('cancelled')
    await expect(turn(cancel.signal, async () => 'ran')).rejects.toThrow('cancelled')
    door.end()
    await first
    expect(await third).toBe('third')
  })
})

test.each([
  ['/srv/logs/app.log', '/srv/logs', true],
  ['/srv/logs/old/..app.log', '/srv/logs', true],
  ['/srv/logs', '/srv/logs', false],
  ['/srv/logs2/app.log', '/srv/logs', false],
  ['/etc/passwd', '/srv/logs', false],
  ['/srv', '/srv/logs', false],
  ['/etc/passwd', '/', true],
])('%s in %s: %s', (path, folder, expected) => {
  expect(isIn(path, folder)).toBe(expected)
})
