import { beforeEach, expect, test, vi } from 'vitest'
import { tellWhile } from '../../../src/cli/scan/run-scan.ts'
import type { ScanDocument } from '../../../src/output/scan/document.ts'
import { nothing, several } from '../../output/scan/documents.ts'
import { Terminal } from '../doctor/terminal.ts'

const timeout = 20_000

// whoever runs the tests may want no colours
beforeEach(() => void vi.stubEnv('NO_COLOR', undefined))

/** Tells of documents that change under it, until the test ends it. */
function telling(output: Parameters<typeof tellWhile>[1]): {
  show: (document: ScanDocument) => void
  end: () => Promise<void>
} {
  let now = nothing
  const stop = new AbortController()
  const told = tellWhile(() => now, output, stop.signal)
  return { show: (document) => void (now = document), end: async () => (stop.abort(), told) }
}

test('on a terminal a table is drawn anew, and taken away in the end', async () => {
  const terminal = new Terminal(60, 10)
  terminal.stdout.write('before\n')
  const { show, end } = telling(terminal.stdout)
  await expect
    .poll(() => terminal.screen, { timeout })
    .toEqual(['before', '… 1 line so far, no known fault; press Ctrl-C for the summ…'])
  show(several)
  await expect.poll(() => terminal.screen.length, { timeout }).toBe(7)
  expect(terminal.screen[1]).toBe('✖ error    unknown-host         412, last 2026-11-22 11:59…')
  show(nothing)
  await expect.poll(() => terminal.screen.length, { timeout }).toBe(2)
  await end()
  expect(terminal.screen).toEqual(['before'])
  expect(terminal.scrolled).toEqual([])
})

test('a small terminal does not scroll', async () => {
  const terminal = new Terminal(60, 5)
  const { show, end } = telling(terminal.stdout)
  show(several)
  await expect.poll(() => terminal.screen.length, { timeout }).toBe(4)
  await end()
  expect(terminal.scrolled).toEqual([])
})

test('elsewhere a line is written where something has come, and nothing is taken away', async () => {
  let written = ''
  const { show, end } = telling({ write: (text: string) => (written += text) })
  show(several)
  await expect.poll(() => written.split('\n').length, { timeout }).toBe(6)
  const before = written
  show({ ...several, matches: several.matches.map((it) => (it.signature === 'conflict' ? { ...it, count: 3 } : it)) })
  await expect.poll(() => written.slice(before.length), { timeout }).toBe('time unknown  warning conflict 3 (+1)\n')
  await end()
  expect(written.endsWith('(+1)\n')).toBe(true)
})
