import { describe, expect, test } from 'vitest'
import { historyText } from '../../src/output/history.ts'
import { planText } from '../../src/output/plan.ts'
import { repairText, stepLines, takeBackText } from '../../src/output/repair.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { planOf } from '../engine/repairing.ts'
import { documents, histories, riskyPlan } from './repairs.ts'
import { faultsOf } from './schemas.ts'

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('how a repair ended', () => {
  test.each(Object.entries(documents))('%s', async (name, document) => {
    await expect(repairText(document, plainScreen)).toMatchFileSnapshot(`golden/repair-${name}.txt`)
    expect(faultsOf('repair', asJson(document))).toEqual([])
  })

  test('names the configuration file that a flag named', () => {
    expect(repairText(documents['done']!, plainScreen, 'my own.yaml')).toMatch(
      /testops-admin undo \S+ -d prod --config 'my own\.yaml'\n$/,
    )
  })

  test('keeps within the screen, with colours', async () => {
    await expect(repairText(documents['half-done']!, { columns: 60, colour: true })).toMatchFileSnapshot(
      'golden/repair-half-done-colour.txt',
    )
    await expect(planText(riskyPlan, { columns: 60, colour: true })).toMatchFileSnapshot('golden/plan-colour.txt')
  })
})

test('a plan that names its figures and parts after nothing of ours is shown all the same, and harmless', () => {
  const text = planText(
    planOf({ impact: { constructor: 1, toString: 2, 'a\u001b[31m\nb': 3 }, target: { 'c\u001b]0;x\u0007': 'd' } }),
    plainScreen,
  )
  expect(text).toContain('  - constructor: 1\n  - toString: 2\n  - a\\x1b[31m ⏎ b: 3\n')
  expect(text).toContain('  c\\x1b]0;x\\x07  d\n')
})

describe('what is on record', () => {
  test.each(Object.entries(histories))('%s', async (name, document) => {
    await expect(historyText(document, plainScreen)).toMatchFileSnapshot(`golden/history-${name}.txt`)
    expect(faultsOf('history', asJson(document))).toEqual([])
  })
})

test('what is printed where there is nothing to go on with fits its schema', () => {
  expect(faultsOf('repair', { schemaVersion: 1, outcome: 'nothing-to-do' })).toEqual([])
})

describe('what does not fit is noticed', () => {
  test.each<[what: string, schema: string, document: unknown]>([
    ['a document without a plan', 'repair', { ...documents['done'], plan: undefined }],
    ['an outcome that there is not', 'repair', { ...documents['done'], outcome: 'postponed' }],
    ['a migration of trees without its account', 'repair', { ...documents['trees-done'], requested: undefined }],
    ['half an account', 'repair', { ...documents['trees-done'], failed: undefined }],
    ['an unknown key', 'repair', { ...documents['done'], more: 1 }],
    ['a state that there is not', 'history', { ...histories['none'], runs: [{ run: 'x' }] }],
  ])('%s', (_, schema, document) => expect(faultsOf(schema, asJson(document))).not.toEqual([]))
})

test('each step is told as it begins and ends, with what it took before', () => {
  const said: string[] = []
  const tell = stepLines(planOf({ expectedMs: [12_400, 300, null] }), (line) =>
    said.push(line.replace(/\d+\.\d s/, 'N s')),
  )
  for (const [step, status] of [
    [0, 'begun'],
    [0, 'done'],
    [1, 'begun'],
    [1, 'already'],
    [2, 'begun'],
    [2, 'failed'],
    [1, 'going-back'],
    [1, 'undone'],
  ] as const)
    tell(step, status)
  expect(said).toEqual([
    '  1/3  stop the service (about 12 s)',
    '  1/3  done after N s',
    '  2/3  release the lock',
    '  2/3  already done',
    '  3/3  start the service',
    '  3/3  failed after N s',
    '  2/3  undoing: release the lock',
    '  2/3  undone after N s',
  ])
})

test('what an undo takes back is told in its order, and nothing where there is none', () => {
  expect(takeBackText(planOf(), [1, 0], plainScreen)).toBe(
    '\nThe undo reverses these steps, in this order:\n  2. release the lock\n  1. stop the service\n',
  )
  expect(takeBackText(planOf(), [], plainScreen)).toBe('')
})
