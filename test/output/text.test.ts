import { describe, expect, test, vi } from 'vitest'
import { errorText } from '../../src/output/error-text.ts'
import { plainScreen } from '../../src/output/paint.ts'
import {
  clip,
  countOf,
  hang,
  pad,
  printable,
  widthOf,
  withOwnTimesHere,
  withTimesHere,
  wrap,
} from '../../src/output/text.ts'

describe('widths', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['соединение', 10],
    ['界面', 4],
    ['e\u0301', 1],
    ['😀', 2],
  ])('%s takes %i columns', (text, width) => expect(widthOf(text)).toBe(width))

  test.each([
    ['a b c', 3, ['a b', 'c']],
    ['', 10, ['']],
    ['https://example.org/a/long/address of', 10, ['https://example.org/a/long/address', 'of']],
    ['界面 界面', 4, ['界面', '界面']],
  ])('%s wrapped at %i', (text, width, lines) => expect(wrap(text, width)).toEqual(lines))

  test('a narrow screen breaks no word that fits it', () => {
    expect(
      hang('- skipped  integrations/debug-logging  ', 'see http://127.0.0.1:20703/login/system; it is not seen', 40),
    ).toEqual([
      '- skipped  integrations/debug-logging',
      '    see',
      '    http://127.0.0.1:20703/login/system;',
      '    it is not seen',
    ])
    expect(hang(' '.repeat(30), 'likewise the others', 40)).toEqual(['    likewise the others'])
  })

  test('hangs, pads, clips, counts', () => {
    expect(hang('  - ', 'one two three four five six', 24)).toEqual(['  - one two three four', '    five six'])
    expect(pad('界', 4)).toBe('界  ')
    expect(clip('as it should be', 8)).toBe('as it s…')
    expect(clip('short', 8)).toBe('short')
    expect([countOf(1, 'check'), countOf(0, 'check'), countOf(2, 'check is', 'checks are')]).toEqual([
      '1 check',
      '0 checks',
      '2 checks are',
    ])
  })
})

test('text from outside cannot steer the terminal', () => {
  expect(printable('a\u001b[31mb\r\nc\td\u009be\u202ef')).toBe('a\\x1b[31mb ⏎ c d\\x9be\\u202ef')
})

test('an error says what happened and what to type next', () => {
  const document = {
    error: {
      code: 'USAGE' as const,
      message: 'no check `broker/queue-durable` among the checks of this program, which are many, and listed',
      suggestions: ['--only broker/queues-durable', 'testops-admin checks'],
    },
  }
  expect(errorText(document, plainScreen)).toMatchInlineSnapshot(`
    "Error: no check \`broker/queue-durable\` among the checks of this program, which
           are many, and listed

    Try:
      --only broker/queues-durable
      testops-admin checks
    "
  `)
  expect(
    errorText({ error: { ...document.error, suggestions: [] } }, { columns: 80, colour: true }),
  ).toMatchInlineSnapshot(`
    "[31mError:[39m no check \`broker/queue-durable\` among the checks of this program, which
           are many, and listed
    "
  `)
})

describe('times of this machine beside UTC', () => {
  test.each<[zone: string, text: string, shown: string]>([
    ['UTC', 'at 2026-11-21 02:12:44Z', 'at 2026-11-21 02:12:44Z'],
    ['Europe/London', 'at 2026-11-21 02:12:44Z', 'at 2026-11-21 02:12:44Z'],
    ['Europe/London', 'at 2026-07-21 02:12:44Z.', 'at 2026-07-21 02:12:44Z (03:12:44+01).'],
    ['Europe/Moscow', 'at 2026-11-21 02:12:44Z', 'at 2026-11-21 02:12:44Z (05:12:44+03)'],
    [
      'Europe/Moscow',
      'to 2026-11-21T22:12:44.123Z, then',
      'to 2026-11-21T22:12:44.123Z (2026-11-22 01:12:44+03), then',
    ],
    ['America/St_Johns', '2026-11-21 02:12:44 UTC', '2026-11-21 02:12:44 UTC (2026-11-20 22:42:44-03:30)'],
    ['Asia/Tokyo', 'since 2026-11-21 02:12:44 UTC (5 s ago)', 'since 2026-11-21 02:12:44 UTC (11:12:44+09, 5 s ago)'],
    ['Asia/Tokyo', '2026-13-21 02:12:44Z and 2026-11-21 02:12:44', '2026-13-21 02:12:44Z and 2026-11-21 02:12:44'],
    ['Asia/Tokyo', 'run-2026-11-21T02:12:44Zx', 'run-2026-11-21T02:12:44Zx'],
  ])('in %s: %s', (zone, text, shown) => {
    vi.stubEnv('TZ', zone)
    expect(withTimesHere(text)).toBe(shown)
    vi.unstubAllEnvs()
  })

  test('beside times of this program alone, in lines that may quote another', () => {
    vi.stubEnv('TZ', 'Asia/Tokyo')
    const shown = (text: string): string => withOwnTimesHere(text)
    expect(shown('since 2026-11-21 02:12:44Z')).toBe('since 2026-11-21 02:12:44Z (11:12:44+09)')
    for (const quoted of ['2026-11-21T02:12:44.123Z INFO', '2026-11-21 02:12:44.123 UTC [7] LOG'])
      expect(shown(quoted)).toBe(quoted)
    vi.unstubAllEnvs()
  })

  test('they are wrapped with the text', () => {
    vi.stubEnv('TZ', 'Asia/Tokyo')
    expect(wrap('since 2026-11-21 02:12:44Z', 26)).toEqual(['since 2026-11-21 02:12:44Z', '(11:12:44+09)'])
    vi.unstubAllEnvs()
  })
})
