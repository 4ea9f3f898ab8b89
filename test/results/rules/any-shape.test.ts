import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ResultContent } from '../../../src/results/result-file.ts'
import {
  attachmentsOf,
  fileRules,
  groupRules,
  oversize,
  parameterPairs,
  shapeFaults,
} from '../../../src/results/rules/index.ts'

const keys = [
  'uuid',
  'name',
  'fullName',
  'status',
  'statusDetails',
  'labels',
  'links',
  'parameters',
  'attachments',
  'steps',
  'titlePath',
  'start',
  'stop',
  'value',
  'url',
  'source',
  'excluded',
  'mode',
  'message',
] as const
const texts = fc.oneof(
  fc.constantFrom('AS_ID', 'suite', 'passed', 'failed', '12', 'a/b', '', ' '),
  fc.string({ unit: 'binary', maxLength: 300 }),
)

/** JSON of the fields of results, in any order and of any type. */
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constant(null),
    texts,
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
}))

const nullable = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of)
const list = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[] | null> =>
  nullable(fc.array(nullable(of), { maxLength: 4 }))
const text = nullable(texts)
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
const attachment = some({ name: text, source: text, type: text, size: fc.nat() })
const parameter = some({ name: text, value: text, excluded: nullable(fc.boolean()), mode: text })
const details = nullable(some({ message: text, trace: text, known: nullable(fc.boolean()), actual: fc.jsonValue() }))
const time = nullable(fc.integer())
const step = {
  name: text,
  status: text,
  statusDetails: details,
  attachments: list(attachment),
  parameters: list(parameter),
  start: time,
  stop: time,
}

/** What adapters may write. */
const right = fc.record(
  {
    ...step,
    steps: list(some({ ...step, steps: list(some(step)) })),
    fullName: text,
    titlePath: list(texts),
    labels: list(some({ name: text, value: text })),
    links: list(some({ name: text, url: text, type: text })),
  },
  { requiredKeys: ['name'] },
)

function judgeAll(content: ResultContent): void {
  const file = { directory: 'd', file: 'f', bytes: 1, content }
  // results without a full name are in no group
  const group = ['passed', 'failed'].map((status) => ({
    ...file,
    content: { ...content, status, fullName: content.fullName ?? 'a' },
  }))
  for (const rule of fileRules)
    for (const { message } of rule.judge(file, new Set())) expect(message.length).toBeLessThan(1000)
  for (const rule of groupRules) rule.judge(group)
  parameterPairs(file, new Set(), () => {})
  oversize(1, content)
}

it('of any JSON, says what is wrong or judges it', () => {
  fc.assert(
    fc.property(anything.value, (value) => {
      attachmentsOf(value)
      const faults = shapeFaults(value)
      expect(faults.length).toBeLessThanOrEqual(5)
      if (faults.length === 0) judgeAll(value as ResultContent)
    }),
    { numRuns: 3000 },
  )
})

it('finds the shape right of all that adapters may write', () => {
  fc.assert(
    fc.property(right, (content) => {
      expect(shapeFaults(content)).toEqual([])
      judgeAll(content as ResultContent)
    }),
    { numRuns: 1000 },
  )
})
