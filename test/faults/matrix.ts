import { expect } from 'vitest'
import type { DoctorReport } from '../../src/core/report.ts'
import type { LabFaultsDocument } from '../../src/output/lab.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'

export type Row = LabFaultsDocument['faults'][number]

/** Longest that one row may take on a busy machine. */
export const rowTimeoutMs = 180_000

export interface Expectation {
  exitCode: number
  /** `check severity` of every root cause */
  roots: readonly string[]
  allowedConsequences: readonly string[]
}

export function expectationOf({ expected }: Row): Expectation {
  const roots = expected.problems.map(({ check, severity }) => `${check} ${severity}`)
  return { exitCode: expected.exitCode, roots, allowedConsequences: expected.allowedConsequences }
}

/** What a fault may be refused with: servers that were given are not ours to stop, and not every machine has a small disk. */
const cannotHere = /needs a \w+ of the lab's own|was started without a disk of its own|has a given one that it cannot exchange/

/** Breaks the lab in these ways, holds what doctor says against what it must say, and mends it again. */
export async function breakLookMend(lab: OwnLab, names: readonly string[], expected: Expectation): Promise<void> {
  try {
    const { exitCode, stderr } = await lab.run('lab', 'break', ...names)
    if (exitCode === 69 && cannotHere.test(stderr.replace(/\s+/g, ' '))) return
    expect(`${exitCode} ${stderr}`, `lab break ${names.join(' ')}`).toMatch(/^0 /)
    await look(lab, expected)
  } finally {
    await lab.must('lab', 'mend')
  }
}

/** What doctor says now, in the shape of an expectation; on a difference its table is shown. */
export async function look(lab: OwnLab, expected: Expectation): Promise<DoctorReport> {
  const { exitCode, document: report } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
  const problems = report.checks.filter(({ status }) => status === 'problem')
  const isRoot = ({ id }: { id: string }): boolean => report.rootCauses.includes(id)
  const said = {
    exitCode,
    roots: problems.filter(isRoot).map(({ id, severity }) => `${id} ${severity}`).sort(),
    unexpected: problems.filter((check) => !isRoot(check) && !expected.allowedConsequences.includes(check.id)).map(({ id }) => id),
    unexplained: report.checks.filter(({ status, because }) => status === 'unknown' && because === undefined).map(({ id }) => id),
    withoutReason: report.checks.filter(({ status, reason }) => status === 'skipped' && !reason).map(({ id }) => id),
    withoutEvidence: problems.filter(({ findings }) => !findings?.every(({ evidence }) => evidence.length > 0)).map(({ id }) => id),
    withoutRemedy: problems.filter((check) => isRoot(check) && !check.remedy).map(({ id }) => id),
  }
  const wanted = {
    exitCode: expected.exitCode,
    roots: [...expected.roots].sort(),
    unexpected: [],
    unexplained: [],
    withoutReason: [],
    withoutEvidence: [],
    withoutRemedy: [],
  }
  const table = JSON.stringify(said) === JSON.stringify(wanted) ? '' : (await lab.run('doctor', '-d', 'lab', '--verbose')).stdout
  expect(said, `doctor says:\n${table}`).toEqual(wanted)
  return report
}
