import { expect, test } from 'vitest'
import type { ScanDocument } from '../../../src/output/scan/document.ts'
import { scanHtml } from '../../../src/output/scan/html.ts'
import { barsOf, scanChanges, scanRows, scanText } from '../../../src/output/scan/text.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { widthOf } from '../../../src/output/text.ts'
import { signatures } from '../../../src/knowledge/signatures.ts'
import { faultsOf } from '../schemas.ts'
import { hostile, nothing, several } from './documents.ts'
import scanSchema from '../../../src/output/schemas/scan-logs.schema.json' with { type: 'json' }

const shown = (document: ScanDocument, exitCode: number, screen = plainScreen): string =>
  scanText(document, { screen, exitCode })

test.each<[string, string]>([
  ['scan-several', shown(several, 1)],
  ['scan-several-narrow', shown(several, 1, { columns: 50, colour: false })],
  ['scan-several-colour', shown(several, 1, { columns: 100, colour: true })],
  ['scan-nothing', shown(nothing, 0)],
  ['scan-hostile-text', shown(hostile, 1)],
])('%s', async (name, text) => {
  await expect(text).toMatchFileSnapshot(`../golden/${name}.txt`)
})

test('nothing in a log steers the terminal', () => {
  expect(shown(hostile, 1)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
})

test.each(Object.entries({ several, nothing, hostile }))('%s fits its schema', (_, document) => {
  expect(faultsOf('scan-logs', JSON.parse(JSON.stringify(document)))).toEqual([])
})

test('what does not fit its schema is noticed', () => {
  for (const wrong of [
    { ...nothing, lines: -1 },
    { ...nothing, more: 1 },
    { ...nothing, matches: [{ ...several.matches[0], signature: 'zebra' }] },
  ])
    expect(faultsOf('scan-logs', wrong)).not.toEqual([])
})

test('the schema knows all signatures', () => {
  expect(scanSchema.$defs.signature.enum).toEqual(signatures.map(({ id }) => id))
})

test('bars are there where lines differ over time', () => {
  const [first] = several.matches
  const bars = barsOf(first!, several.from!, several.to!, 24)
  expect(bars).toEqual({ text: '▁  ▃ ▇    ▃', most: 202, width: 1_024_000 })
})

test.each([
  ['two lines', { count: 2, untimed: 0 }],
  ['hardly any with a time', { count: 40, untimed: 38 }],
])('no bars of %s', (_, few) => {
  expect(barsOf({ ...several.matches[0]!, ...few }, several.from!, several.to!, 24)).toBe(null)
})

test('what has come since is a line for each signature', () => {
  expect(scanChanges(nothing, null)).toEqual([])
  expect(scanChanges(several, null)).toEqual([
    '2026-11-22 11:59:00Z  error unknown-host 412  tracker.example.org, git.example.org',
    '2026-11-22 09:30:00Z  error precondition-failed 1',
    'time unknown  warning conflict 2',
    '2026-11-22 09:00:10Z  info lock-waiting 2',
    'time unknown  info agent-counts 1',
  ])
  const more: ScanDocument = {
    ...several,
    matches: several.matches.map((it) =>
      it.signature === 'unknown-host' ? { ...it, count: 414, hosts: { ...it.hosts, 'new.example.org': 1 } } : it,
    ),
  }
  expect(scanChanges(more, several)).toEqual(['2026-11-22 11:59:00Z  error unknown-host 414 (+2)  new.example.org'])
  expect(scanChanges(several, several)).toEqual([])
})

test('what is drawn on a terminal fits it', () => {
  const rows = scanRows(several, { columns: 60, colour: true }, 6)
  expect(rows.length).toBe(5)
  expect(rows.filter((line) => widthOf(line) > 59)).toEqual([])
  expect(rows.slice(-2)).toEqual(['… and 2 more', '… 1,204,331 lines so far; press Ctrl-C for the summary'])
  expect(scanRows(nothing, plainScreen, 24)).toEqual(['… 1 line so far, no known fault; press Ctrl-C for the summary'])
})

/** What stands between the page's style and its script, which are the same in each page. */
const body = (document: ScanDocument, exitCode: number): string => {
  const text = scanHtml(document, exitCode)
  return text.slice(text.indexOf('<body>'), text.indexOf('<script>'))
}

test.each<[string, ScanDocument, number]>([
  ['several', { ...several, timeZone: 'Asia/Tokyo' }, 1],
  ['nothing', nothing, 0],
  ['hostile-text', hostile, 1],
])('the page: %s', async (name, document, exitCode) => {
  await expect(body(document, exitCode)).toMatchFileSnapshot(`../golden/scan-${name}.html`)
})

test('the page shows the requested time alone', () => {
  const text = body({ ...several, since: '2026-11-22T10:15:00.000Z', until: '2026-11-22T11:00:00.000Z' }, 1)
  expect(text).toContain('<figcaption>2026-11-22 10:15:00 to 2026-11-22 11:00:00 UTC.')
  expect(text.match(/<rect /g)).toHaveLength(1)
})

test('the page of a long log is small', () => {
  const counts = Array.from({ length: 100_000 }, (_, minute) => ({
    at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    lines: 1 + (minute % 7),
  }))
  const document: ScanDocument = {
    ...several,
    from: counts[0]!.at,
    to: counts.at(-1)!.at,
    matches: several.matches.map((it) => ({ ...it, rate: { seconds: 60, counts } })),
    files: Array.from({ length: 5000 }, () => several.files[0]!),
  }
  const text = body(document, 1)
  expect(text.length).toBeLessThan(300_000)
  expect(text).toContain('4,700 more logs')
})
