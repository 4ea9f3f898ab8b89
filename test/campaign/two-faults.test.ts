import { expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { expectationOf, rowTimeoutMs } from '../faults/matrix.ts'
import type { Row } from '../faults/matrix.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { faultPairs } from './pairs.ts'

const pairs = faultPairs()

const lab = sharedLab()

test.each(pairs)(
  '$name: nothing is reported that neither brings about',
  async ({ one, other }) => {
    const broken = await lab.json<{ error?: { code: string; message: string } }>('lab', 'break', one.name, other.name)
    try {
      if (broken.exitCode !== 0) {
        // some causes exclude each other, or one keeps the service from what the other waits for: that is said
        const mute = [one, other].some((row) => keepsFromAnswering(row))
        expect(broken.document.error?.message).toMatch(
          mute
            ? /cannot make|cannot break|already|^timed out after \d+ s, waiting until the service/
            : /cannot make|cannot break|already/,
        )
        return
      }
      const { exitCode, document: report } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
      const problems = report.checks.filter(({ status }) => status === 'problem').map(({ id }) => id)
      const brought = new Set(
        [one, other].flatMap((row) => [...checksOf(row), ...expectationOf(row).allowedConsequences]),
      )
      const roots = new Set([one, other].flatMap(checksOf))
      expect({
        strange: problems.filter((id) => !brought.has(id)),
        // of some only the log tells
        roots: roots.size === 0 || report.rootCauses.some((id) => roots.has(id)),
        unexplained: report.checks
          .filter(({ status, because }) => status === 'unknown' && because === undefined)
          .map(({ id }) => id),
        exitCode,
      }).toEqual({
        strange: [],
        roots: true,
        unexplained: [],
        exitCode: worst(one.expected.exitCode, other.expected.exitCode),
      })
    } finally {
      await lab.must('lab', 'mend')
    }
  },
  rowTimeoutMs,
)

function keepsFromAnswering(row: Row): boolean {
  return row.fault === 'live-lock' || [...checksOf(row), ...row.expected.allowedConsequences].includes('api/reachable')
}

function checksOf(row: Row): string[] {
  return row.expected.problems.map(({ check }) => check)
}

/** 1 before 3 before 2 before 0 */
function worst(...codes: readonly number[]): number {
  return [1, 3, 2, 0].find((code) => codes.includes(code)) ?? 0
}
