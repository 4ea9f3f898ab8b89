import { expect, test } from 'vitest'
import { notesOn } from '../../../src/cli/scan/document.ts'
import type { Asked } from '../../../src/cli/scan/document.ts'
import { openScan } from '../../../src/logs/scan/scanner.ts'
import { resultOf } from '../../../src/runtime/scan/run.ts'
import type { ScannedPart } from '../../../src/runtime/scan/run.ts'

const part = (name: string, text: string, isBinary = false): ScannedPart => {
  const scan = openScan({ timeZone: 'UTC' })
  scan.write(Buffer.from(text))
  return { name, tally: scan.end(), isBinary }
}
const asked: Asked = { timeZone: 'UTC', assumedFrom: "this machine's zone" }
const since = new Date('2026-11-22T10:00:00Z')

function notes(parts: readonly ScannedPart[], more: Partial<Asked> = {}, isCut = false): string[] {
  return notesOn(
    resultOf(parts, [], (text) => text),
    { ...asked, ...more },
    isCut,
  ).map(({ kind, message, isGap }) => `${kind}${isGap ? ', a gap' : ''}: ${message}`)
}

test('of a usual log there is nothing to say', () => {
  expect(notes([part('a', '2026-11-22 10:00:00.000 INFO x\n')])).toEqual([])
})

test('a log of nothing is no good news', () => {
  expect(notes([])).toEqual(['empty, a gap: there is no log to read'])
  expect(notes([part('standard input', '')])).toEqual(['empty, a gap: nothing to read in standard input'])
  expect(notes([part('a', ''), part('b', '2026-11-22 10:00:00.000 INFO x\n')])).toEqual([])
})

test('where nothing of the log is of the time that is wanted, that is said', () => {
  const parts = [part('a', '2026-11-22 10:00:00.000 INFO x\n2026-11-22 10:30:00.000 INFO y\n')]
  const zone = { assumedFrom: null }
  expect(notes(parts, { ...zone, since: new Date('2026-11-22T10:31:00Z') })).toEqual([
    'empty: no records in the requested time range: the newest record is from 2026-11-22 10:30:00Z',
  ])
  expect(notes(parts, { ...zone, until: new Date('2026-11-22T10:00:00Z') })).toEqual([
    'empty: no records in the requested time range: the oldest record is from 2026-11-22 10:00:00Z',
  ])
  expect(notes(parts, { ...zone, since, until: new Date('2026-11-22T10:00:01Z') })).toEqual([])
})

test('dates in an unknown form are a gap only where a time was asked for', () => {
  const parts = ['a', 'b', 'c', 'd', 'e'].map((name) => part(name, '22/Nov/2026 HTTP FAILED\n'))
  expect(notes(parts)).toEqual([
    'dates: a, b, c and 2 more: unknown date format, so the times of the records are unknown',
  ])
  expect(notes(parts.slice(0, 1), { since })).toEqual([
    'dates, a gap: a: unknown date format, so the times of the records are unknown; all records are counted, ' +
      'including those outside the requested time range',
  ])
})

test('the zone is told where it was not given and counts', () => {
  const parts = [part('a', '2026-11-22 10:00:00.000 INFO x\n')]
  expect(notes(parts, { since })).toEqual([
    "time-zone: times without an offset are read as UTC, this machine's zone; to change the zone, use --time-zone",
  ])
  expect(notes(parts, { since, assumedFrom: null })).toEqual([])
})

test('bytes that are no text, a clock that runs backwards, and an interruption', () => {
  expect(notes([part('core', 'HTTP FAILED\n', true)])[0]).toBe(
    'binary: core: binary, not text; searched anyway, as `grep -a` does',
  )
  const back = '2026-11-22 12:00:00.000 INFO HTTP FAILED\n2026-11-22 11:00:00.000 INFO HTTP FAILED\n'
  expect(notes([part('a', back)])).toEqual([
    'clock: the times in the log jump back once: "first" and "last" are the earliest and the latest time in the log',
  ])
  expect(notes([part('a', back + back)])[0]).toContain('the times in the log jump back 2 times')
  expect(notes([], {}, true)).toEqual(['interrupted, a gap: interrupted: these are the findings so far'])
})
