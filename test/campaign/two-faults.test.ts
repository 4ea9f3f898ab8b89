import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/report.ts'
import { faultRows } from '../../src/lab/fault-list.ts'
import { expectationOf, rowTimeoutMs } from '../faults/matrix.ts'
import type { Row } from '../faults/matrix.ts'
import { ownLab } from '../lab/support/own-lab.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'
import { randomFrom, seed } from './seed.ts'

const random = randomFrom(`${seed} two-faults`)
const most = Number(process.env['CAMPAIGN_PAIRS'] ?? Infinity)

const single = faultRows().filter(({ kind, needs }) => kind === 'fault' && needs.broker !== '3')
const firsts = single.filter((row, index) => single.findIndex(({ fault }) => fault === row.fault) === index)
const pairs = firsts
  .flatMap((one, index) => firsts.slice(index + 1).map((other) => [one, other] as const))
  .map((pair) => ({ pair, order: random() }))
  .sort((a, b) => a.order - b.order)
  .slice(0, most)
  .map(({ pair: [one, other] }) => ({ name: `${one.name} and ${other.name}`, one, other }))

let lab: OwnLab
beforeAll(async () => {
  lab = await ownLab()
  await lab.must('lab', 'up')
}, rowTimeoutMs)
afterAll(async () => expect(await lab.end()).toEqual([]), rowTimeoutMs)

test.each(pairs)(
  '$name: nothing is reported that neither brings about',
  async ({ one, other }) => {
    const broken = await lab.json<{ error?: { code: string; message: string } }>('lab', 'break', one.name, other.name)
    try {
      if (broken.exitCode !== 0) {
        // some causes exclude each other, or one keeps the service from what the other waits for: that is said
        const mute = [one, other].some((row) => keepsFromAnswering(row))
        expect(broken.document.error?.message).toMatch(mute ? /cannot be|already|^waited \d+ s in vain until the service/ : /cannot be|already/)
        return
      }
      const { exitCode, document: report } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
      const problems = report.checks.filter(({ status }) => status === 'problem').map(({ id }) => id)
      const brought = new Set([one, other].flatMap((row) => [...checksOf(row), ...expectationOf(row).allowedConsequences]))
      const roots = new Set([one, other].flatMap(checksOf))
      expect({
        strange: problems.filter((id) => !brought.has(id)),
        // of some only the log tells
        roots: roots.size === 0 || report.rootCauses.some((id) => roots.has(id)),
        unexplained: report.checks.filter(({ status, because }) => status === 'unknown' && because === undefined).map(({ id }) => id),
        exitCode,
      }).toEqual({ strange: [], roots: true, unexplained: [], exitCode: worst(one.expected.exitCode, other.expected.exitCode) })
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
