import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { doctorHtml } from '../../src/output/doctor/html.ts'
import { doctorJunit, doctorMarkdown, doctorPrometheus } from '../../src/output/doctor/formats.ts'
import { databaseDown, eventful, healthy, hostile, ok, problem, reportOf, stuckLock, unknownOnly } from './reports.ts'
import { changed, ignoring, warningsOnly } from './reports.ts'
import { faultsOf } from './schemas.ts'

const situations: [name: string, report: DoctorReport, exitCode: number][] = [
  ['healthy', healthy, 0],
  ['stuck-lock', { ...stuckLock, timeZone: 'Asia/Tokyo' }, 1],
  ['database-down', databaseDown, 1],
  ['changed', changed, 1],
  ['warnings-only', warningsOnly, 2],
  ['unknown-only', unknownOnly, 3],
  ['ignoring', ignoring, 2],
  ['hostile-text', { ...hostile, deployment: 'a "b" <c> | \\d `e`' }, 1],
]

describe.each([
  ['junit', doctorJunit, 'xml'],
  ['markdown', doctorMarkdown, 'md'],
  ['prometheus', doctorPrometheus, 'prom'],
] as const)('the report as %s', (_, format, ending) => {
  test.each(situations)('%s', async (name, report, exitCode) => {
    await expect(format(report, { exitCode, areWarningsFailures: true })).toMatchFileSnapshot(
      `golden/doctor-${name}.${ending}`,
    )
  })
})

test('warnings are no failures where they do not count', () => {
  const counted = (areWarningsFailures: boolean): [string, number] => {
    const text = doctorJunit(warningsOnly, { exitCode: 2, areWarningsFailures })
    return [/ failures="(\d+)"/.exec(text)![1]!, text.match(/<failure /g)?.length ?? 0]
  }
  expect([counted(true), counted(false)]).toEqual([
    [String(warningsOnly.summary.warning), warningsOnly.summary.warning],
    ['0', 0],
  ])
  expect(warningsOnly.summary.warning).toBeGreaterThan(0)
})

test('a zone that is not known here leaves UTC alone', () => {
  const text = doctorMarkdown({ ...stuckLock, timeZone: 'Nowhere/Town' }, { exitCode: 1, areWarningsFailures: true })
  expect(text).toContain(', 2026-11-21 04:00 UTC. Exit code 1.')
})

test('a fence is longer than what is in it, and nothing from outside is Markdown', () => {
  const report: DoctorReport = {
    ...stuckLock,
    deployment: '# <script>[x](y)',
    checks: stuckLock.checks.map((it) => ({
      ...it,
      ...(it.findings && { findings: [{ message: '<b> | @you', evidence: ['````', '# no heading'] }] }),
    })),
  }
  const text = doctorMarkdown(report, { exitCode: 1, areWarningsFailures: true })
  expect(text).toContain('`````\n````\n# no heading\n`````')
  expect(text).not.toMatch(/<script>|<b>|(?<!\\)\]\(/)
  expect(text.startsWith('## \\# ')).toBe(true)
})

test('each check has exactly one status of five, and labels are quoted', () => {
  const text = doctorPrometheus({ ...hostile, deployment: 'a"b\\c\nd' }, { exitCode: 1, areWarningsFailures: true })
  const ones = hostile.checks.map(
    ({ id }) => text.split('\n').filter((line) => line.includes(`check="${id}",status=`) && line.endsWith(' 1')).length,
  )
  expect(ones).toEqual(hostile.checks.map(() => 1))
  expect(text).toContain('deployment="a\\"b\\\\c ⏎ d"')
  expect(text.endsWith('\n')).toBe(true)
})

const page = (report: DoctorReport): string => doctorHtml(report, { exitCode: 1, areWarningsFailures: true })
/** What stands between the page's style and its script, which are the same in each page. */
const body = (text: string): string => text.slice(text.indexOf('<body>'), text.indexOf('<script>'))

describe('the report as a page', () => {
  test.each<[string, DoctorReport]>(
    [...situations, ['eventful', eventful]].map(([name, report]) => [name, report] as [string, DoctorReport]),
  )('%s', async (name, report) => {
    await expect(body(page(report))).toMatchFileSnapshot(`golden/doctor-${name}.html`)
  })

  test('its policy permits its own style and script alone', () => {
    const text = page(eventful)
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(text)!
    const hashOf = (part: string): string => `'sha256-${createHash('sha256').update(part).digest('base64')}'`
    const [, style] = /<style>([^<]*)<\/style>/.exec(text)!
    const [, script] = /<script>([^<]*)<\/script>/.exec(text)!
    expect(policy!.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hashOf(style!)}`,
      `script-src ${hashOf(script!)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ])
    expect(text).not.toMatch(/ style="| on[a-z]+="|javascript:|https?:\/\/(?!127\.0\.0\.1)|src=/)
  })

  test('a time line says what happened, and nothing is made up without one', () => {
    expect(page(stuckLock)).not.toContain('id="time"')
    const none = { ...stuckLock, events: { ...eventful.events!, list: [], unseen: ['the broker: it is <down>'] } }
    expect(page(none)).toContain('Nothing is on record from <time datetime="2026-11-21T00:00:00.000Z">')
    expect(page(none)).toContain('<li>the broker: it is &lt;down&gt;</li>')
    expect(page(none)).not.toContain('<figure')
  })

  test('times that cannot be read, or lie outside, are in the table and not in the picture', () => {
    const odd = page({
      ...stuckLock,
      events: {
        from: '2026-11-21T00:00:00.000Z',
        to: '2026-11-21T04:00:00.000Z',
        list: [
          { at: 'yesterday', kind: 'restart', message: 'first odd' },
          { at: '2026-11-21T01:00:00.000Z', kind: 'restart', message: 'the one in the picture' },
          { at: '2027-11-21T01:00:00.000Z', kind: 'restart', message: 'second odd' },
        ],
        unseen: [],
      },
    })
    const [, picture, table] = /<figure([^]*)<\/figure>([^]*?)<\/section>/.exec(odd)!
    expect(picture).not.toMatch(/odd|NaN|Invalid/)
    expect(picture).toContain('the one in the picture')
    expect(table).toMatch(/<td>yesterday<\/td><td>Restart: first odd/)
    expect(table).toContain('second odd')
    expect(page({ ...eventful, events: { ...eventful.events!, from: 'x' } })).not.toMatch(/NaN|Invalid|<figure/)
  })

  test('what is too much is left out, and said', () => {
    const long = 'a'.repeat(10_000)
    const evidence = [`${long}\n`.repeat(100)]
    const text = page({
      ...reportOf([
        ...Array.from({ length: 40 }, (_, index) =>
          problem(`broker/c${index}`, 'error', '', {
            findings: Array.from({ length: 30 }, () => ({
              message: long,
              evidence,
            })) as never,
            remedy: { text: long, commands: Array.from({ length: 100 }, () => `psql ${long}`) },
            began: '2026-11-21T00:00:00.000Z',
            changes: Array.from({ length: 1000 }, () => ({
              at: '2026-11-21T00:00:00.000Z',
              kind: 'image',
              message: long,
            })),
          }),
        ),
        ...Array.from({ length: 230 }, (_, index) => ok(`api/c${index}`, long)),
      ]),
      events: {
        from: '2026-01-21T00:00:00.000Z',
        to: '2026-11-21T04:00:00.000Z',
        list: Array.from({ length: 50_000 }, (_, index) => ({
          at: new Date(Date.UTC(2026, 1, 1, 0, index)).toISOString(),
          kind: index % 2 === 0 ? 'log' : 'restart',
          message: index % 2 === 0 ? `${index} ${'b'.repeat(300)}` : long,
          count: 1,
        })),
        unseen: Array.from({ length: 1000 }, () => long),
      },
    })
    expect(text.length).toBeLessThan(10_000_000)
    const told = [
      '(8000 more characters)',
      '&hellip; 41 more lines',
      '10 more findings are left out.',
      'The evidence, the commands and the consequences are left out: the page would be too large.',
      'A command of 10,005 characters is left out.',
      '<li class="soft">30 more</li>',
      '<li class="soft">950 more</li>',
      'more, later ones, are left out.',
      'more rows are in the table alone.',
    ]
    expect(told.filter((it) => !text.includes(it))).toEqual([])
  })
})

test('the schema knows what happened before', () => {
  expect(faultsOf('doctor', eventful)).toEqual([])
  const [first] = eventful.events!.list
  for (const wrong of [
    { ...eventful, events: { ...eventful.events, unseen: undefined } },
    { ...eventful, events: { ...eventful.events, list: [{ ...first, kind: 'zebra' }] } },
    { ...eventful, checks: [{ ...eventful.checks[1], began: 'yesterday' }] },
    { ...eventful, checks: [{ ...eventful.checks[1], changes: [{ ...first, at: 1 }] }] },
  ])
    expect(faultsOf('doctor', JSON.parse(JSON.stringify(wrong)))).not.toEqual([])
})
