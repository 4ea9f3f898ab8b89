import { expect, test } from 'vitest'
import { groupsOf } from '../../../src/output/lint/words.ts'
import { several } from './documents.ts'

const problem = several.problems.find(({ together }) => !together)!
const causesOf = (messages: readonly string[], more: Partial<typeof problem> = {}): [string | null, number][] =>
  groupsOf({
    problems: messages.map((message) => ({ ...problem, ...more, message })),
    rules: {},
  })[0]!.advices[0]!.causes.map((it) => [it.message, it.problems.length])

test.each<[what: string, messages: string[], causes: [string | null, number][]]>([
  ['the same', ['the file is empty', 'the file is empty'], [['the file is empty', 2]]],
  ['other values', ['holds "a"', 'holds "b \\" c"'], [[null, 2]]],
  ['other numbers', ['name has 256 characters', 'name has 1,257 characters'], [[null, 2]]],
  [
    'another parameter',
    [
      'the parameter "a" contains a time: "10:00"',
      'the parameter "b" contains a time: "10:01"',
      'the parameter "b" contains a time: "10:02"',
    ],
    [
      [null, 2],
      ['the parameter "a" contains a time: "10:00"', 1],
    ],
  ],
  [
    'another label of a number',
    ['the label "a1" is odd', 'the label "a2" is odd'],
    [
      ['the label "a1" is odd', 1],
      ['the label "a2" is odd', 1],
    ],
  ],
])('%s', (_, messages, causes) => {
  expect(causesOf(messages)).toEqual(causes)
})

test('results that become one are told one by one', () => {
  expect(causesOf(['2 results', '3 results'], { together: [{ file: 'a' }] }).length).toBe(2)
})

test('what is to be done otherwise stands apart', () => {
  const [group] = groupsOf({
    problems: [problem, { ...problem, remedy: 'other' }, problem],
    rules: { [problem.rule]: { error: 7, warning: 0 } },
  })
  expect([
    group!.count,
    group!.advices.map(({ remedy, causes }) => [remedy === 'other', causes[0]!.problems.length]),
  ]).toEqual([
    7,
    [
      [false, 2],
      [true, 1],
    ],
  ])
})
