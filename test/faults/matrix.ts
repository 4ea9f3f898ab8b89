import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { DoctorReport } from '../../src/core/check.ts'
import { faultRows } from '../../src/lab/fault-list.ts'
import { serverNames } from '../../src/lab/servers/index.ts'
import type { LabFaultsDocument, LabStatusDocument } from '../../src/output/lab.ts'
import { followed } from './follow.ts'
import { lookAgain } from './saved.ts'
import { withDatabase } from '../lab/support/databases.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'

export type Row = LabFaultsDocument['faults'][number]

/** Longest that one row may take on a busy machine. */
export const rowTimeoutMs = 180_000

/** Rows that wait for locks and migrations: half of the time of the matrix, beside the others in a lab of their own. */
export const isOfLock = ({ fault }: Row): boolean => /lock|migration|unfinished-repair/.test(fault)

/** Breaks the lab in the way of each row, and looks at what doctor says. */
export function describeRows(lab: OwnLab, rows: readonly Row[]): void {
  const one = async (_: string, row: Row): Promise<void> => breakLookMend(lab, [row.name], expectationOf(row))
  const of = (kind: Row['kind']): [string, Row][] =>
    rows.filter((row) => row.kind === kind).map((row) => [row.name, row])
  describe('doctor names the cause of', () => {
    test.each(of('fault'))('%s', one, rowTimeoutMs)
  })
  describe('doctor reports nothing on', () => {
    test.each(of('healthy'))('%s', one, rowTimeoutMs)
  })
}

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

/**
 * Breaks the lab in these ways, holds what doctor says against what it must say, and mends it again. One fault alone is
 * repaired first, where a command does that, and the command that must be refused is refused. Only where the
 * environment gave the lab a server that the fault would stop, fill or exchange, it must be refused, with that reason.
 */
export async function breakLookMend(lab: OwnLab, names: readonly string[], expected: Expectation): Promise<void> {
  await mendedAfter(lab, async () => {
    const refusal = await refusalOn(lab, names)
    const { exitCode, document } = await lab.json<Outcome>('lab', 'break', ...names)
    if (refusal) {
      expect({ exitCode, error: document.error }, `lab break ${names.join(' ')}`).toMatchObject({
        exitCode: 69,
        error: refusal,
      })
      return
    }
    expect({ exitCode, error: document.error }, `lab break ${names.join(' ')}`).toEqual({
      exitCode: 0,
      error: undefined,
    })
    await lookAgain(lab, await look(lab, expected))
    const row = faultRows().find(({ name }) => name === names[0])
    if (!row || names.length > 1) return
    if (row.refused) await refuse(lab, row.refused, expected)
    // next.test.ts repairs the followed ones
    if (row.repairedBy && !followed.includes(row.name)) await repair(lab, row.repairedBy)
  })
}

/** What went wrong first is told first; a lab that cannot be mended is made anew, so that it fails no other row. */
async function mendedAfter(lab: OwnLab, work: () => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  await work().catch((error: unknown) => failures.push(error))
  await lab.must('lab', 'mend').catch(async (error: unknown) => {
    failures.push(error)
    await lab.must('lab', 'down')
    await lab.must('lab', 'up')
  })
  if (failures.length > 0)
    throw failures.length === 1
      ? failures[0]
      : new AggregateError(failures, failures.map(String).join('\n\nand then: '))
}

const healthy: Expectation = { exitCode: 0, roots: [], allowedConsequences: [] }

/** Without a terminal; afterwards the deployment is healthy, and there is nothing left to do. */
async function repair(lab: OwnLab, words: readonly string[]): Promise<void> {
  expect(await repairOutcome(lab, words)).toEqual({ exitCode: 0, outcome: 'done', error: undefined })
  await look(lab, healthy)
  // no service tells which trees have moved, so it is asked again, which does no harm
  const again = words[0] === 'migrate-trees' ? 'done' : 'nothing-to-do'
  expect(await repairOutcome(lab, words)).toEqual({ exitCode: 0, outcome: again, error: undefined })
  await look(lab, healthy)
}

/** Refused, and nothing is touched: neither the lock nor the service. */
async function refuse(lab: OwnLab, words: readonly string[], expected: Expectation): Promise<void> {
  const before = await whatMustStay(lab)
  const said = await repairOutcome(
    lab,
    words.map((word) => word.replace('{lab}', lab.root)),
  )
  expect({ ...said, error: said.error?.code }).toEqual({ exitCode: 4, outcome: 'refused', error: 'REFUSED' })
  expect(await whatMustStay(lab)).toEqual(before)
  await look(lab, expected)
}

interface RepairSaid {
  exitCode: number | null
  outcome: RepairDocument['outcome']
  error: RepairDocument['error'] | undefined
}

async function repairOutcome(lab: OwnLab, words: readonly string[]): Promise<RepairSaid> {
  const { exitCode, document } = await lab.json<RepairDocument>(...words, '-d', 'lab', '--confirm', 'lab')
  return { exitCode, outcome: document.outcome, error: document.error }
}

async function whatMustStay(lab: OwnLab): Promise<unknown> {
  const { document } = await lab.json<LabStatusDocument>('lab', 'status')
  const [, host, port, user, database] = /psql -h (\S+) -p (\S+) -U (\S+) (\S+)$/m.exec(document.commands.join('\n'))!
  const password = (await readFile(join(lab.root, 'secrets', 'database'), 'utf8')).trim()
  const login = { host: host!, port: Number(port), user: user!, password, database: database! }
  const { rows } = await withDatabase(login, (client) =>
    client.query('SELECT * FROM databasechangeloglock ORDER BY id'),
  )
  return { rows, service: document.service }
}

interface Outcome {
  error?: { code: string; message: string }
}

/**
 * What the first of the faults must be refused with that needs a server of the lab's own where one was given; null:
 * none does.
 */
async function refusalOn(lab: OwnLab, names: readonly string[]): Promise<Outcome['error'] | null> {
  const { document } = await lab.json<LabStatusDocument>('lab', 'status')
  const given = document.servers.filter(({ way }) => way === 'given')
  for (const name of names) {
    const row = faultRows().find((it) => it.name === name || it.fault === name)!
    const stopped = given.find(({ kind }) => row.needs.own.some((it) => it === kind))
    const exchanged = given.find(({ kind, version }) => kind === 'rabbitmq' && !isLine(version, row.needs.broker))
    const server = stopped ?? exchanged
    if (!server) continue
    const title = serverNames[server.kind as keyof typeof serverNames]
    return {
      code: 'UNAVAILABLE',
      message:
        `the fault ${row.name} needs the lab's own ${title}, ` + `but the lab uses your ${title} at ${server.address}`,
    }
  }
  return null
}

function isLine(version: string, line: string | null): boolean {
  return line === null || line === (Number.parseInt(version, 10) >= 4 ? '4.3' : '3')
}

/** What doctor says now, in the shape of an expectation; on a difference its table is shown. */
export async function look(lab: OwnLab, expected: Expectation): Promise<DoctorReport> {
  const { exitCode, document: report } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
  const problems = report.checks.filter(({ status }) => status === 'problem')
  const isRoot = ({ id }: { id: string }): boolean => report.rootCauses.includes(id)
  const said = {
    exitCode,
    roots: problems
      .filter(isRoot)
      .map(({ id, severity }) => `${id} ${severity}`)
      .sort(),
    unexpected: problems
      .filter((check) => !isRoot(check) && !expected.allowedConsequences.includes(check.id))
      .map(({ id }) => id),
    unexplained: report.checks
      .filter(({ status, because }) => status === 'unknown' && because === undefined)
      .map(({ id }) => id),
    withoutReason: report.checks.filter(({ status, reason }) => status === 'skipped' && !reason).map(({ id }) => id),
    withoutEvidence: problems
      .filter(({ findings }) => !findings?.every(({ evidence }) => evidence.length > 0))
      .map(({ id }) => id),
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
  const table =
    JSON.stringify(said) === JSON.stringify(wanted) ? '' : (await lab.run('doctor', '-d', 'lab', '--verbose')).stdout
  expect(said, `doctor says:\n${table}`).toEqual(wanted)
  return report
}
