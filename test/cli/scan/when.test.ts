import { expect, test } from 'vitest'
import { when } from '../../../src/cli/scan/session.ts'
import { AdminError } from '../../../src/core/error.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const read = (text: string, zone = 'UTC'): string => when('--since', text, now)(zone).toISOString()

test.each([
  ['90s', '2026-11-22T11:58:30.000Z'],
  ['30m', '2026-11-22T11:30:00.000Z'],
  ['2h', '2026-11-22T10:00:00.000Z'],
  ['1d12h', '2026-11-21T00:00:00.000Z'],
  ['1w', '2026-11-15T12:00:00.000Z'],
  // before any log
  ['999999999d', '1970-01-01T00:00:00.000Z'],
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21 10:30', '2026-11-21T10:30:00.000Z'],
  ['2026-11-21T10:30:15.250', '2026-11-21T10:30:15.250Z'],
  ['2026-11-21T10:30:15Z', '2026-11-21T10:30:15.000Z'],
  ['2026-11-21T10:30+03:00', '2026-11-21T07:30:00.000Z'],
  ['2026-11-21 10:30:00 -0130', '2026-11-21T12:00:00.000Z'],
])('%s', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test('what bears no offset is of the zone of the log', () => {
  expect([
    read('2026-11-21', 'Europe/Moscow'),
    read('2026-11-21T10:30Z', 'Europe/Moscow'),
    read('2h', 'Europe/Moscow'),
  ]).toEqual(['2026-11-20T21:00:00.000Z', '2026-11-21T10:30:00.000Z', '2026-11-22T10:00:00.000Z'])
})

test.each([
  '',
  'yesterday',
  '2',
  '2x',
  '-2h',
  '2 h',
  '2026-02-30',
  '2026-13-01',
  '2026-11-21T25:00',
  '21.11.2026',
  '2026-11-21T10',
  '2026-11-21T10:30+3',
])('%j is no time', (text) => {
  expect(() => read(text)).toThrow(AdminError)
  expect(() => read(text)).toThrow(`--since: invalid time \`${text}\``)
  expect(() => read(text)).toThrow(
    expect.objectContaining({ suggestions: expect.arrayContaining(['--since 2h', '--since 2026-11-22']) as unknown }),
  )
})
