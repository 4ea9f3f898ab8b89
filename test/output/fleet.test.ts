import { describe, expect, test } from 'vitest'
import { worstOf } from '../../src/cli/doctor/fleet.ts'
import { fleetText } from '../../src/output/doctor/fleet.ts'
import type { Examined } from '../../src/output/doctor/fleet.ts'
import { doctorHtml } from '../../src/output/doctor/html.ts'
import { doctorJunit, doctorMarkdown, fleetPrometheus } from '../../src/output/doctor/formats.ts'
import { doctorTable } from '../../src/output/doctor/table.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { healthy, ignoring, problem, reportOf, skipped, unknown } from './reports.ts'

const lock = problem('database/changelog-lock', 'error', 'testops-1 has held the change-log lock for 3 h', {
  remedy: { text: 'Release it.', commands: ['# a comment', 'testops-admin unlock-changelog -d us'] },
})
const debug = problem('integrations/debug-logging', 'warning', 'debug logging is still on')

const examined: readonly Examined[] = [
  { result: { ...healthy, deployment: 'eu' }, exitCode: 0 },
  { result: reportOf([lock, debug], { deployment: 'us', platform: 'kubernetes' }), exitCode: 1 },
  { result: reportOf([debug], { deployment: 'asia', build: null }), exitCode: 2 },
  { result: reportOf([unknown('service/ready', 'forbidden')], { deployment: 'test' }), exitCode: 3 },
  {
    result: {
      deployment: 'wrong',
      exitCode: 64,
      error: {
        code: 'CONFIGURATION',
        message: `there are 2 mistakes\n- ${'unknown key '.repeat(30)}`,
        suggestions: [],
      },
    },
    exitCode: 64,
  },
]

describe('several deployments', () => {
  test('one line each, with its causes below', () => {
    expect(fleetText(examined, { screen: plainScreen, exitCode: 1, isShort: false })).toMatchInlineSnapshot(`
      "✔ ok       eu     host, build 527u01. Healthy: 4 ok, 1 skipped.
      ✖ error    us     kubernetes, build 527u01. 1 problem: database/changelog-lock;
                        1 warning: integrations/debug-logging.
          database/changelog-lock: testops-1 has held the change-log lock for 3 h
              testops-admin unlock-changelog -d us
          integrations/debug-logging: debug logging is still on
      ! warning  asia   host. 1 warning: integrations/debug-logging.
          integrations/debug-logging: debug logging is still on
      ? unknown  test   host, build 527u01. No problem found, but 1 check could not be
                        judged: service/ready.
      ✖ error    wrong  Not examined (exit code 64): there are 2 mistakes - unknown
                        key unknown key unknown key unknown key unknown key unknown
                        key unknown key unknown key unknown key unknown key unknown
                        key unknown key unknown key unknown key unknown…

      5 deployments: 1 healthy, 1 with problems, 1 with warnings only, 1 not fully
      checked, 1 not examined. Exit code 1.
      Next: testops-admin doctor -d us
      "
    `)
  })

  test('short: without the causes', () => {
    const text = fleetText(examined.slice(0, 2), {
      screen: plainScreen,
      exitCode: 1,
      isShort: true,
      config: 'a b.yaml',
    })
    expect(text).toMatchInlineSnapshot(`
      "✔ ok       eu  host, build 527u01. Healthy: 4 ok, 1 skipped.
      ✖ error    us  kubernetes, build 527u01. 1 problem: database/changelog-lock; 1
                     warning: integrations/debug-logging.

      2 deployments: 1 healthy, 1 with problems. Exit code 1.
      Next: testops-admin doctor -d us --config 'a b.yaml'
      "
    `)
  })

  test('all healthy: nothing to do', () => {
    expect(
      fleetText(examined.slice(0, 1), { screen: plainScreen, exitCode: 0, isShort: false }),
    ).toMatchInlineSnapshot(`
      "✔ ok       eu  host, build 527u01. Healthy: 4 ok, 1 skipped.

      1 deployment: 1 healthy. Exit code 0.
      "
    `)
  })
})

test('a deployment is not called healthy since its warnings were forgiven', () => {
  const forgiven = examined.slice(1, 4).map((it) => ({ ...it, exitCode: 0 }))
  const text = fleetText(forgiven, { screen: plainScreen, exitCode: 0, isShort: true })
  const counts = '3 deployments: 1 with problems, 1 with warnings only, 1 not fully checked. Exit code 0.'
  expect(text.replace(/\s+/g, ' ')).toContain(counts)
  expect(text).not.toMatch(/✔|healthy/)
})

test.each([
  [[], 0],
  [[0, 0], 0],
  [[0, 2], 2],
  [[2, 3], 3],
  [[3, 69], 69],
  [[69, 64], 64],
  [[64, 1, 3], 1],
  [[1, 70], 70],
  [[0, 5], 5],
])('of the exit codes %j, %i wins', (codes, wins) => {
  expect(worstOf(codes)).toBe(wins)
})

describe('where nothing was examined, nothing is called healthy', () => {
  const none = reportOf([], { deployment: 'none', build: null })
  const allSkipped = reportOf([skipped('broker/alarms', 'no broker')], { deployment: 'skipped', build: null })

  test('among several deployments', () => {
    const fleet = [healthy, none, allSkipped].map((result) => ({ result, exitCode: 0 }))
    expect(fleetText(fleet, { screen: plainScreen, exitCode: 0, isShort: false })).toMatchInlineSnapshot(`
      "✔ ok       prod     host, build 527u01. Healthy: 4 ok, 1 skipped.
      - skipped  none     host. Nothing was examined: it has none of these checks.
      - skipped  skipped  host. Nothing was examined: 1 skipped.

      3 deployments: 1 healthy, 2 with nothing examined. Exit code 0.
      "
    `)
  })

  test('in metrics: no exit code and no time of a deployment that has none of the checks', () => {
    const lines = fleetPrometheus([
      { result: none, exitCode: 0 },
      { result: { ...healthy, deployment: 'eu' }, exitCode: 0 },
    ]).split('\n')
    expect(lines.filter((line) => line.includes('deployment="none"'))).toEqual(
      ['ok', 'warning', 'error', 'skipped', 'unknown'].map(
        (status) => `testops_admin_doctor_checks{deployment="none",status="${status}"} 0`,
      ),
    )
    expect(lines).toContain('testops_admin_doctor_exit_code{deployment="eu"} 0')
  })

  test.each([
    ['no check', none, 'Nothing was examined: it has none of these checks.'],
    ['all skipped', allSkipped, 'Nothing was examined: 1 skipped.'],
  ])('in each format: %s', (_, report, said) => {
    const view = { exitCode: 0, areWarningsFailures: true }
    expect(doctorTable(report, { screen: plainScreen, exitCode: 0, verbose: false })).toContain(said)
    expect(doctorMarkdown(report, view)).toContain(`## ${report.deployment}: ${said}`)
    const page = doctorHtml(report, view)
    expect([page.includes('Nothing was examined'), page.includes('>Healthy<')]).toEqual([true, false])
    expect(doctorJunit(report, view)).toContain(`tests="${report.checks.length}" failures="0"`)
  })

  test('a problem that the configuration ignores was examined', () => {
    const suppressed = reportOf(ignoring.checks.filter((it) => it.suppressed !== undefined))
    expect(doctorTable(suppressed, { screen: plainScreen, exitCode: 0, verbose: false })).toContain('Healthy: 0 ok')
  })
})
