import { describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { doctorChanges, doctorShort, doctorTable } from '../../src/output/doctor/table.ts'
import type { DoctorView } from '../../src/output/doctor/table.ts'
import { plainScreen } from '../../src/output/paint.ts'
import {
  changed,
  databaseDown,
  healthy,
  hostile,
  ignoring,
  mostlySkipped,
  ok,
  problem,
  reportOf,
  settingsMissing,
  skipped,
  stuckLock,
  unknown,
  unknownOnly,
  warningsOnly,
} from './reports.ts'

const plain = { screen: plainScreen, exitCode: 0, verbose: false }

describe('the report as a table', () => {
  const situations: [name: string, report: DoctorReport, view: Partial<DoctorView>][] = [
    ['healthy', healthy, {}],
    ['healthy-verbose', healthy, { verbose: true }],
    ['stuck-lock', stuckLock, { exitCode: 1 }],
    ['stuck-lock-verbose', stuckLock, { exitCode: 1, verbose: true }],
    ['stuck-lock-colour', stuckLock, { exitCode: 1, screen: { columns: 80, colour: true } }],
    ['stuck-lock-wide', stuckLock, { exitCode: 1, screen: { columns: 200, colour: false } }],
    ['stuck-lock-narrow', stuckLock, { exitCode: 1, screen: { columns: 40, colour: false } }],
    ['database-down', databaseDown, { exitCode: 1 }],
    ['changed', changed, { exitCode: 1 }],
    ['warnings-only', warningsOnly, { exitCode: 2 }],
    ['warnings-forgiven', warningsOnly, { exitCode: 0 }],
    ['unknown-only', unknownOnly, { exitCode: 3 }],
    ['hostile-text', hostile, { exitCode: 1 }],
    ['mostly-skipped', mostlySkipped, {}],
    ['ignoring', ignoring, { exitCode: 2 }],
    ['ignoring-verbose', ignoring, { exitCode: 2, verbose: true }],
    ['mostly-skipped-verbose', mostlySkipped, { verbose: true }],
    ['settings-missing', settingsMissing, { exitCode: 3 }],
    [
      'several-causes',
      reportOf([...warningsOnly.checks, ...databaseDown.checks, ...unknownOnly.checks.slice(1)], { build: null }),
      { exitCode: 1 },
    ],
  ]
  test.each(situations)('%s', async (name, report, view) => {
    await expect(doctorTable(report, { ...plain, ...view })).toMatchFileSnapshot(`golden/doctor-${name}.txt`)
  })

  test('prose keeps within the screen', () => {
    // what is to be copied, or was: commands and lines of logs
    const evidence = /^Next: |psql|rabbitmqctl|testops-admin|liquibase/
    for (const columns of [40, 60, 80, 120]) {
      for (const report of [
        healthy,
        stuckLock,
        databaseDown,
        warningsOnly,
        unknownOnly,
        mostlySkipped,
        settingsMissing,
      ]) {
        const wide = doctorTable(report, { ...plain, screen: { columns, colour: false } })
          .split('\n')
          .filter((line) => line.length > Math.max(columns, 60) && !evidence.test(line))
        expect(wide).toEqual([])
      }
    }
  })

  test('checks that one reason keeps from being judged are told together', () => {
    const error = {
      code: 'UNAVAILABLE' as const,
      message: 'the management plugin is not enabled',
      suggestions: ['enable it'],
    }
    const text = doctorTable(
      reportOf([
        unknown('broker/queues-durable', error.message, { error }),
        unknown('database/disk', 'not allowed'),
        unknown('broker/alarms', error.message, { error }),
        ok('broker/reachable'),
      ]),
      plain,
    )
    expect(text.match(/enable it/g)).toHaveLength(1)
    expect(text).toContain('? unknown  broker/queues-durable\n  Same for: broker/alarms\n')
    expect(text).toContain('? unknown  database/disk\n  Could not')
  })

  test.each([
    [
      'the first command of what could not be asked',
      ['set `database.url`', 'kubectl get pods'],
      'kubectl get pods   # on this machine',
    ],
    [
      'one that names another machine',
      ['rabbitmq-plugins enable rabbitmq_management', 'df -h   # on rabbit'],
      'df -h   # on rabbit',
    ],
    [
      'what is known of the check, where nothing can be typed',
      ['rabbitmq-plugins enable rabbitmq_management'],
      'testops-admin explain broker/alarms',
    ],
  ])('Next: %s', (_, suggestions, next) => {
    const text = doctorTable(
      reportOf([
        unknown('broker/alarms', 'not allowed', { error: { code: 'FORBIDDEN', message: 'not allowed', suggestions } }),
      ]),
      plain,
    )
    expect(text).toContain(`\nNext: ${next}\n`)
  })

  test('a cause that is not in the report, or that leads in a circle, hides nothing', () => {
    const circle = reportOf([
      problem('api/reachable', 'error', 'no answer', { because: 'service/running' }),
      problem('service/running', 'error', 'stopped', { because: 'api/reachable' }),
      unknown('api/token', 'no answer', { because: 'database/reachable' }),
    ])
    const text = doctorTable(circle, plain)
    for (const { id } of circle.checks) expect(text).toContain(id)
  })
})

describe('the report in short', () => {
  test.each([
    ['stuck-lock', stuckLock],
    ['hostile-text', hostile],
  ])('%s', async (name, report) => {
    const text = doctorShort(report, plainScreen)
    await expect(text).toMatchFileSnapshot(`golden/doctor-${name}-short.txt`)
    expect(text.split('\n')).toHaveLength(report.checks.length + 1)
  })
})

test('a watch tells of what is not as it was', async () => {
  const before = reportOf([ok('database/reachable'), ok('broker/alarms'), skipped('api/token', 'no apiToken')])
  const after = reportOf([
    ok('database/reachable'),
    problem('broker/alarms', 'error', 'memory alarm on node a'),
    skipped('api/token', 'no apiToken'),
  ])
  const text = [
    doctorChanges(before, null, plainScreen),
    doctorChanges(after, before, plainScreen),
    doctorChanges(after, after, plainScreen),
    doctorChanges(before, after, plainScreen),
  ]
  await expect(text.join('')).toMatchFileSnapshot('golden/doctor-changes.txt')
})
