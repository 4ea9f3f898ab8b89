import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LintDocument } from '../../src/output/lint/document.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
  // a result whose name is longer than its field, and one that is no JSON
  const uuid = '6c7f9a3e-0d0a-4d4b-8f3e-5f5d2a1b0c01'
  const result = { uuid, historyId: 'h', name: 'n'.repeat(300), fullName: 'a.b', status: 'passed', start: 1, stop: 2 }
  await place.write(`${uuid}-result.json`, JSON.stringify(result))
  await place.write('7c7f9a3e-0d0a-4d4b-8f3e-5f5d2a1b0c02-result.json', '{')
})
afterEach(async () => place.remove())

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

async function judged(): Promise<{ exitCode: number | null; stderr: string; document: LintDocument }> {
  const { exitCode, stdout, stderr } = await place.run(['lint-results', '.', '--json'])
  const document = JSON.parse(stdout) as LintDocument
  expect(faultsOf('lint-results', document)).toEqual([])
  return { exitCode, stderr, document }
}

async function ignore(rule: string, until: string): Promise<void> {
  await place.write('.testops-lint.yaml', `ignore:\n  - {rule: ${rule}, reason: 'INC-7', until: ${until}}\n`)
}

test('a rule is ignored until the end of its last day, and counts again after it', async () => {
  const all = await judged()
  expect([all.exitCode, all.document.rules['bad-json']?.error, all.document.suppressed]).toEqual([1, 1, []])
  await ignore('bad-json', day(0))
  const { exitCode, stderr, document } = await judged()
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
  expect(document.rules).toEqual({ 'long-field': { error: 0, warning: 1 } })
  expect(document.summary).toEqual({ error: 0, warning: 1, suppressed: 1 })
  expect(document.suppressed).toMatchObject([
    { rule: 'bad-json', reason: 'INC-7', until: day(0), count: 1, problems: [{ rule: 'bad-json' }] },
  ])
  await ignore('bad-json', day(-1))
  const after = await judged()
  expect([after.exitCode, after.document.summary.suppressed]).toEqual([1, 0])
  expect(after.stderr).toBe(`The settings ignored the rule bad-json until ${day(-1)}.\n`)
})

test('of a rule that is named twice, the last day counts', async () => {
  const entry = (until: string): string => `  - {rule: bad-json, reason: 'INC-7', until: ${until}}\n`
  await place.write('.testops-lint.yaml', `ignore:\n${entry(day(-9))}${entry(day(1))}${entry(day(0))}`)
  const { stderr, document } = await judged()
  expect([stderr, document.summary.suppressed, document.suppressed.map(({ until }) => until)]).toEqual([
    '',
    1,
    [day(1)],
  ])
})

test.each([
  ['bad-jsn', '2027-01-31', '`ignore[0].rule` at .testops-lint.yaml:2 is an unknown rule; did you mean `bad-json`?'],
  ['bad-json', 'tomorrow', '`ignore[0].until` at .testops-lint.yaml:2 must be a day of the calendar'],
])('%s until %s is refused', async (rule, until, said) => {
  await ignore(rule, until)
  const { exitCode, stderr } = await place.run(['lint-results', '.'])
  expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([64, expect.stringContaining(said) as string])
})
