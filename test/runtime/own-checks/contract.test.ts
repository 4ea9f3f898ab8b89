import { describe, expect, test } from 'vitest'
import type * as own from '../../../check.d.ts'
import type { Outcome, Remedy } from '../../../src/core/check.ts'
import type { Deployment } from '../../../src/core/deployment.ts'
import type { Sources } from '../../../src/core/sources.ts'
import { checkIds, ownGroup } from '../../../src/knowledge/check-ids.ts'
import { declarationIn, offers, outcomeIn } from '../../../src/runtime/own-checks/contract.ts'

/** A type as its values come to a check: times are texts. */
type Sent<T> = T extends Date
  ? string
  : T extends (...input: infer I) => Promise<infer V>
    ? (...input: I) => Promise<Sent<V>>
    : T extends object
      ? { [K in keyof T]: Sent<T[K]> }
      : T

/** What is sent must be at least what check.d.ts promises: this does not compile otherwise. */
function promised(sources: { [K in own.SourceName]: Sent<Sources[K]> }): own.Sources {
  return sources
}
const given = (deployment: Deployment): own.Deployment => deployment
/** `outcomeIn` refuses a problem without a finding. */
type Judged = own.Outcome & ({ status: 'ok' | 'skipped' } | { findings: readonly [own.Finding, ...own.Finding[]] })
const taken = (outcome: Judged): Outcome => outcome
const done = (remedy: own.Remedy): Remedy => remedy

test('the public types are those of the program', () => {
  expect([promised, given, taken, done].map((it) => typeof it)).toEqual(Array(4).fill('function'))
  expect(Object.keys(offers).sort()).toEqual(['api', 'broker', 'database', 'logs', 'service', 'sessions'])
  expect(checkIds.filter((id) => id.startsWith(`${ownGroup}/`))).toEqual([])
})

const declared = { version: 1, title: 'a', remedy: { text: 'B.', commands: ['c'] }, run: 'function' }

describe('what a file declares', () => {
  test('is taken', () => {
    expect(declarationIn(declared)).toEqual({ title: 'a', reads: [], remedy: declared.remedy })
    expect(declarationIn({ ...declared, reads: ['api', 'api'] })).toMatchObject({ reads: ['api'] })
  })

  test.each<[change: object, fault: string]>([
    [{ title: '' }, 'check.title is empty'],
    [{ title: 'x'.repeat(101) }, 'check.title has more than 100 characters'],
    [{ title: 'a\nb' }, 'check.title has a control character or a line end'],
    [{ title: 'a\u202eb' }, 'check.title has a control character or a line end'],
    [{ title: 1 }, 'check.title is not text'],
    [{ reads: 'api' }, 'check.reads is not a list'],
    [{ reads: Array(21).fill('api') }, 'check.reads has more than 20 items'],
    [{ remedy: undefined }, 'check.remedy is missing'],
    [{ remedy: { text: 'B.' } }, 'check.remedy.commands is missing'],
    [{ remedy: { text: 'B.', commands: Array(11).fill('c') } }, 'check.remedy.commands has more than 10 items'],
    [{ run: 'string' }, 'check.run is not a function'],
    [{ id: 'database/reachable' }, 'check has an unknown key: id'],
    [{ guards: 'database' }, 'check has an unknown key: guards'],
    [{ ['x'.repeat(1e6)]: 1 }, `check has an unknown key: ${'x'.repeat(273)}…`],
  ])('%j is refused', (change, fault) => {
    expect(declarationIn({ ...declared, ...change })).toBe(`declares no check: ${fault}`)
  })

  test.each<[unknown, string]>([
    [null, 'has no default export'],
    ['function', 'exports a function, not a check'],
    [[], 'exports a list, not a check'],
    [{ version: '1' }, 'is written for version "1" of checks, but this testops-admin has version 1'],
  ])('%j is refused', (value, fault) => expect(declarationIn(value)).toBe(fault))
})

describe('what a check returns', () => {
  const finding = { message: 'a', evidence: ['b'] }
  const problem = { status: 'problem', severity: 'warning', findings: [finding] }
  test.each<object>([
    { status: 'ok', detail: 'a' },
    { status: 'skipped', reason: 'a' },
    problem,
    { ...problem, remedy: { text: 'a', commands: [], risk: 'b', undo: 'c' } },
  ])('%j is taken', (value) => expect(outcomeIn(value)).toEqual(value))

  test.each<[unknown, string]>([
    [null, 'it is not an object with a status'],
    ['ok', 'it is not an object with a status'],
    [{}, 'outcome.status is null; allowed: "ok", "skipped", "problem"'],
    [{ status: 'toString' }, 'outcome.status is "toString"; allowed: "ok", "skipped", "problem"'],
    [{ status: 'ok' }, 'outcome.detail is missing'],
    [{ status: 'ok', detail: '\ud800' }, 'outcome.detail has a control character or a line end'],
    [{ ...problem, findings: [] }, 'outcome.findings is empty'],
    [{ ...problem, severity: 'fatal' }, 'outcome.severity is "fatal"; allowed: "error", "warning"'],
    [{ ...problem, findings: Array(51).fill(finding) }, 'outcome.findings has more than 50 items'],
    [{ ...problem, blocksRepairs: true }, 'outcome has an unknown key: blocksRepairs'],
    [{ status: 'skipped', reason: 'a', suppressed: {} }, 'outcome has an unknown key: suppressed'],
  ])('%j is nonsense', (value, fault) => expect(outcomeIn(value)).toBe(fault))
})
