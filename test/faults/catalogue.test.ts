import { describe, expect, test } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { exitCodeOf } from '../../src/engine/report.ts'
import { whyNotInDrills } from '../../src/lab/drill-draw.ts'
import { allCases, faultRows, faults } from '../../src/lab/fault-list.ts'

const rows = faultRows()
const ids = checks.map(({ id }) => id)

/** What the fault matrix asks of this version. */
const required = [
  'stuck-lock',
  'live-lock',
  'lock-vanished',
  'lock-half-cleared',
  'transient-refused',
  'transient-ahead',
  'durable-mismatch',
  'stale-sessions',
  'clock-skew',
  'cpu-without-v3',
  'legacy-too-early',
  'legacy-needless',
  'image-version-mismatch',
  'settings-not-applied',
  'unknown-host',
  'bad-credentials',
  'integration-400',
  'token-refused',
  'token-lifetime',
  'trees-unmigrated',
  'debug-left-on',
  'service-down',
  'out-of-memory',
  'database-down',
  'broker-down',
  'sessions-down',
  'api-slow',
  'disk-full',
  'connections-exhausted',
  'pool-exhausted',
  'broker-alarm',
  'store-full',
  'unfinished-repair',
  'run-planted',
  'lock-stolen',
  'duplicate-move',
  'api-token-direct',
  'admin-signin',
  'proxy-limits',
  'no-migration-role',
]

describe('the catalogue of faults', () => {
  test('holds every fault that is asked for, once', () => {
    expect(
      faults
        .filter(({ kind }) => kind === 'fault')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...required].sort())
    expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  })

  test('says of every fault how a drill has it mended, or why drills leave it out', () => {
    const unsaid = allCases().filter((it) => whyNotInDrills(it) === 'no command is known that mends it')
    expect(unsaid.map(({ name }) => name)).toEqual([])
    const both = allCases().filter(
      ({ fault, case: { quickest, repairedBy, notInDrills } }) =>
        (notInDrills ?? fault.notInDrills) !== undefined && (quickest ?? repairedBy) !== undefined,
    )
    expect(both.map(({ name }) => name)).toEqual([])
  })

  test('meets every check as a cause, but those that no fault of its own leads to', () => {
    const causes = new Set(rows.flatMap(({ expected }) => expected.rootCauses))
    // a service that answers nothing has always another cause here, and no probe asks it whether it is ready
    expect(ids.filter((id) => !causes.has(id))).toEqual(['service/ready', 'api/reachable'])
  })

  test.each(rows.map((row) => [row.name, row] as const))(
    '%s expects what can be',
    (_name, { kind, expected, made, title, repair }) => {
      const { problems, rootCauses, allowedConsequences, exitCode } = expected
      expect([...rootCauses, ...allowedConsequences].filter((id) => !ids.includes(id))).toEqual([])
      const count = (severity: string): number => problems.filter((problem) => problem.severity === severity).length
      expect(exitCode).toBe(exitCodeOf({ summary: { unknown: 0, error: count('error'), warning: count('warning') } }))
      if (kind === 'healthy') expect(problems).toEqual([])
      // only what a cause is known to bring with it may follow from it
      const explained = new Set(
        checks.filter(({ id }) => rootCauses.includes(id)).flatMap(({ explains = [] }) => explains),
      )
      expect(allowedConsequences.filter((id) => !explained.has(id))).toEqual([])
      expect([made, title, repair].every((text) => text.length > 0 && !text.endsWith('.'))).toBe(true)
    },
  )
})
