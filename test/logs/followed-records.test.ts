import { expect, test } from 'vitest'
import type { FollowedLine, FollowedRecord, FollowOptions } from '../../src/core/sources.ts'
import { followedRecords } from '../../src/logs/followed-records.ts'

const timeout = 20_000

/** A log of which lines come when the test says so. */
function source(): { print: (from: string, text: string) => void; end: () => void; follow: (options: FollowOptions) => AsyncGenerator<FollowedLine>; isOpen: () => boolean } {
  const waiting: FollowedLine[] = []
  let wake = (): void => undefined
  let isOpen = false
  let isOver = false
  return {
    isOpen: () => isOpen,
    print: (from, text) => (waiting.push({ from, text }), wake()),
    end: () => ((isOver = true), wake()),
    async *follow({ signal }) {
      signal.addEventListener('abort', () => wake())
      isOpen = true
      try {
        while (!signal.aborted) {
          const next = waiting.shift()
          if (next) yield next
          else if (isOver) return
          else await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        isOpen = false
      }
    },
  }
}

const shown = ({ from, at, level, text }: FollowedRecord): unknown[] => [from, at?.toISOString() ?? null, level, text]

test('lines of several containers become records of each; one is over where the next begins, or nothing follows it', async () => {
  const { print, follow, isOpen } = source()
  const stop = new AbortController()
  const records: unknown[] = []
  const work = (async () => {
    for await (const it of followedRecords(follow, 'UTC', { signal: stop.signal })) records.push(shown(it))
  })()
  print('a', '2026-11-22 10:00:00.000 ERROR one')
  print('b', '2026-11-22 10:00:01.000  INFO two')
  print('a', '\tat x.y')
  print('a', '2026-11-22 10:00:02.000  WARN three')
  const first = ['a', '2026-11-22T10:00:00.000Z', 'ERROR', '2026-11-22 10:00:00.000 ERROR one\n\tat x.y']
  await expect.poll(() => records[0], { timeout }).toEqual(first)
  const rest = [
    ['b', '2026-11-22T10:00:01.000Z', 'INFO', '2026-11-22 10:00:01.000  INFO two'],
    ['a', '2026-11-22T10:00:02.000Z', 'WARN', '2026-11-22 10:00:02.000  WARN three'],
  ]
  await expect.poll(() => records, { timeout }).toHaveLength(3)
  expect(records).toEqual(expect.arrayContaining(rest))
  stop.abort()
  await work
  expect(isOpen()).toBe(false)
})

test('what is older than wanted is left out, and what is there at the end is a record', async () => {
  const { print, end, follow } = source()
  for (const line of ['ending of a record', '2026-11-22 09:59:59.999 INFO old', '  more of it', '2026-11-22 10:00:00.000 INFO new', '  more']) print('a', line)
  end()
  const texts: string[] = []
  for await (const { text } of followedRecords(follow, 'UTC', { signal: new AbortController().signal, since: new Date('2026-11-22T10:00:00Z') })) texts.push(text)
  expect(texts).toEqual(['ending of a record', '2026-11-22 10:00:00.000 INFO new\n  more'])
})

test('a record that never ends is handed over in parts', async () => {
  const { print, end, follow } = source()
  for (let i = 0; i < 25; i++) print('a', 'x'.repeat(100_000))
  end()
  const lengths: number[] = []
  for await (const { text } of followedRecords(follow, null, { signal: new AbortController().signal })) lengths.push(text.length)
  expect(lengths).toEqual([900_008, 900_008, 700_006])
})

test('who asks for no more leaves nothing open', async () => {
  const { print, follow, isOpen } = source()
  print('a', '2026-11-22 10:00:00.000 INFO one')
  print('a', '2026-11-22 10:00:00.000 INFO two')
  for await (const { text } of followedRecords(follow, 'UTC', { signal: new AbortController().signal })) {
    expect(text).toBe('2026-11-22 10:00:00.000 INFO one')
    break
  }
  expect(isOpen()).toBe(false)
})
