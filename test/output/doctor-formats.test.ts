import { describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { doctorJunit, doctorMarkdown, doctorPrometheus } from '../../src/output/doctor/formats.ts'
import { changed, databaseDown, healthy, hostile, stuckLock, unknownOnly, warningsOnly } from './reports.ts'

const situations: [name: string, report: DoctorReport, exitCode: number][] = [
  ['healthy', healthy, 0],
  ['stuck-lock', { ...stuckLock, timeZone: 'Asia/Tokyo' }, 1],
  ['database-down', databaseDown, 1],
  ['changed', changed, 1],
  ['warnings-only', warningsOnly, 2],
  ['unknown-only', unknownOnly, 3],
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
