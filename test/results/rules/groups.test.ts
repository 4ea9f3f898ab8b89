import { describe, expect, it } from 'vitest'
import type { ResultContent, ResultFile } from '../../../src/results/result-file.ts'
import { groupRules } from '../../../src/results/rules/index.ts'
import { begin, result } from './support.ts'

/** Runs of one test, a second each, one after the other. */
function runs(...contents: readonly (ResultContent & { directory?: string })[]): ResultFile[] {
  return contents.map(({ directory = 'results', ...content }, at) =>
    result(
      { uuid: `run ${at}`, start: begin + at * 1000, stop: begin + at * 1000 + 1000, ...content },
      { file: `${at}-result.json`, directory },
    ),
  )
}

const statuses = (...all: readonly string[]): ResultFile[] => runs(...all.map((status) => ({ status })))
const names = (...all: readonly string[]): ResultFile[] => runs(...all.map((name) => ({ name })))
const label = (name: string, ...values: readonly string[]): ResultContent => ({
  labels: values.map((value) => ({ name, value })),
})
const id = (value: string): ResultContent => label('ALLURE_ID', value)

/** Tries as allure-mocha and allure-playwright mark them: each but the first bears its number. */
const retried = (...tries: readonly (readonly [status: string, retry?: string])[]): ResultFile[] =>
  runs(
    ...tries.map(([status, retry]) => ({
      status,
      parameters: retry === undefined ? [] : [{ name: 'Retry', value: retry, excluded: true }],
    })),
  )
const withoutTimes = (file: ResultFile): ResultFile => ({
  ...file,
  content: { ...file.content, start: null, stop: null },
})

function told(group: readonly ResultFile[]): string[] {
  return groupRules.flatMap((rule) => {
    const found = rule.judge(group)
    return found === null ? [] : [`${rule.id} ${found.place}: ${found.message}`]
  })
}

const collision = (count: number, how: string): string[] => [
  `name-collision fullName: ${count} results of different tests share the full name "shop.Login.logsIn"; their ${how}`,
]
const missing = (count: number, how: string, why = 'they have no parameters'): string[] => [
  `parameters-missing parameters: ${count} runs of the test "shop.Login.logsIn" cannot be told apart, because ` +
    `${why}. ${how}`,
]
const passed = 'All passed, and a test is retried only after it failed: they are not retries'
const twoPassed = [
  'name-collision fullName: 2 results share the full name "shop.Login.logsIn". ' +
    'Both passed, and a test is retried only after it failed: they are not retries',
]
const twoMarked = (count: number): string[] => [
  `name-collision fullName: ${count} results share the full name "shop.Login.logsIn", but their retry numbers ` +
    'show that they belong to 2 different tests',
]
const outcomes = (values: string): string =>
  `Their outcomes differ (${values}), and they do not look like retries of one test`

describe('results that become one', () => {
  it.each<[title: string, group: ResultFile[], expected: readonly string[]]>([
    // retries
    ['failed, then passed', statuses('failed', 'passed'), []],
    ['failed, broken, passed', statuses('failed', 'broken', 'passed'), []],
    ['failed each time', statuses('failed', 'failed', 'broken'), []],
    ['skipped, then passed', statuses('skipped', 'passed'), []],
    [
      'a retry that begins a moment before the end',
      runs({ status: 'failed', stop: begin + 1040 }, { status: 'passed' }),
      [],
    ],
    [
      'short runs in one millisecond',
      runs({ status: 'passed', start: begin, stop: begin }, { status: 'failed', start: begin, stop: begin }),
      [],
    ],
    [
      'a retry whose name tells it',
      runs({ name: 'logs in', status: 'failed' }, { name: 'logs in (retry 1)', status: 'passed' }),
      [],
    ],
    [
      'a retry with a parameter that is excluded',
      runs({ status: 'failed' }, { status: 'passed', parameters: [{ name: 'Retry', value: '1', excluded: true }] }),
      [],
    ],
    [
      'a retry in a directory of its own',
      runs({ status: 'failed', directory: 'a' }, { status: 'passed', directory: 'b' }),
      [],
    ],
    ['tries that are marked, of whatever outcome', retried(['passed'], ['failed', '1'], ['passed', '2']), []],
    ['tries that are marked, without times', retried(['failed'], ['passed', '1']).map(withoutTimes), []],
    ['a result and its copy', runs({ uuid: 'one' }, { uuid: 'one' }), []],
    ['skipped each time', statuses('skipped', 'skipped'), []],
    // data that is not written
    [
      'without times',
      runs({ status: 'passed', start: null }, { status: 'failed', start: null }),
      missing(2, outcomes('"passed" and "failed"')),
    ],
    ['without times, with one outcome', runs({ status: 'failed', start: null }, { status: 'failed', start: null }), []],
    ['passed, then failed', statuses('passed', 'failed'), missing(2, outcomes('"passed" and "failed"'))],
    [
      'a run after one that passed',
      statuses('failed', 'passed', 'failed'),
      missing(3, outcomes('"failed" and "passed"')),
    ],
    ['two that passed', statuses('failed', 'passed', 'passed'), missing(3, outcomes('"failed" and "passed"'))],
    [
      'at one time',
      runs({ status: 'failed', stop: begin + 1100 }, { status: 'passed' }),
      missing(2, outcomes('"failed" and "passed"')),
    ],
    [
      'all parameters excluded',
      runs(
        { status: 'passed', parameters: [{ name: 'a', value: '1', excluded: true }] },
        { status: 'failed', parameters: [{ name: 'a', value: '2', excluded: true }] },
      ),
      missing(2, outcomes('"passed" and "failed"'), 'all their parameters are excluded'),
    ],
    [
      'numbers of data',
      names('logs in [1]', 'logs in [2]'),
      missing(2, 'Their names show different data: "logs in [1]" and "logs in [2]"'),
    ],
    [
      'numbers with a sign',
      names('logs in #1', 'logs in #2'),
      missing(2, 'Their names show different data: "logs in #1" and "logs in #2"'),
    ],
    [
      'data in brackets',
      names('logs in (anna)', 'logs in (ivan)', 'logs in'),
      missing(3, 'Their names show different data: "logs in (anna)", "logs in (ivan)" and "logs in"'),
    ],
    [
      'names that JUnit gives',
      names('[1] anna, 5', '[2] ivan, 7'),
      missing(2, 'Their names show different data: "[1] anna, 5" and "[2] ivan, 7"'),
    ],
    [
      'repetitions',
      names('repetition 1 of 2', 'repetition 2 of 2'),
      missing(2, 'Their names show different data: "repetition 1 of 2" and "repetition 2 of 2"'),
    ],
    [
      'one method',
      runs({ name: 'apple', ...label('testMethod', 'logsIn') }, { name: 'pear', ...label('testMethod', 'logsIn') }),
      missing(2, 'Their names show different data: "apple" and "pear"'),
    ],
    [
      'equal parameters',
      runs(
        { status: 'passed', parameters: [{ name: 'a', value: '1' }] },
        { status: 'failed', parameters: [{ name: 'a', value: '1' }] },
      ),
      [],
    ],
    [
      'one method that passed each time',
      runs(label('testMethod', 'logsIn'), label('testMethod', 'logsIn')),
      missing(2, passed),
    ],
    ['passed each time', statuses('passed', 'passed', 'passed'), missing(3, passed)],
    ['passed each time, without times', statuses('passed', 'passed', 'passed').map(withoutTimes), missing(3, passed)],
    [
      'all parameters excluded, and passed',
      runs(
        { parameters: [{ name: 'a', value: '1', excluded: true }] },
        { parameters: [{ name: 'a', value: '2', excluded: true }] },
      ),
      missing(2, passed, 'all their parameters are excluded'),
    ],
    // different tests
    ['two that passed, one after the other', statuses('passed', 'passed'), twoPassed],
    ['two that passed at one time', runs({ start: begin }, { start: begin }), twoPassed],
    [
      'two that passed, with equal parameters',
      runs({ parameters: [{ name: 'a', value: '1' }] }, { parameters: [{ name: 'a', value: '1' }] }),
      twoPassed,
    ],
    ['two that passed, of which one was tried again', retried(['passed'], ['failed'], ['passed', '1']), twoMarked(3)],
    ['two that were both tried again', retried(['failed'], ['failed'], ['passed', '1'], ['passed', '1']), twoMarked(4)],
    ['names', names('logs in', 'logs out', 'logs in'), collision(3, 'names differ: "logs in" and "logs out"')],
    [
      'numbered names with equal parameters',
      runs(
        { name: 'a [1]', parameters: [{ name: 'a', value: '1' }] },
        { name: 'a [2]', parameters: [{ name: 'a', value: '1' }] },
      ),
      collision(2, 'names differ: "a [1]" and "a [2]"'),
    ],
    [
      'numbers that are no data',
      names('1. logs in', '2. logs out'),
      collision(2, 'names differ: "1. logs in" and "2. logs out"'),
    ],
    ['numbers alone', names('test 1', 'test 2'), collision(2, 'names differ: "test 1" and "test 2"')],
    ['many names', names('a', 'b', 'c', 'd', 'e'), collision(5, 'names differ: "a", "b", "c" and 2 more')],
    [
      'test case ids',
      runs({ testCaseId: 'a' }, { testCaseId: 'b' }),
      collision(2, 'test case IDs (`testCaseId`) differ: "a" and "b"'),
    ],
    ['a test case id that is absent', runs({ testCaseId: 'a', status: 'failed' }, { testCaseId: null }), []],
    [
      'places',
      runs({ titlePath: ['shop', 'a.ts'] }, { titlePath: ['shop', 'b.ts'] }),
      collision(2, 'places (`titlePath`) differ: "shop > a.ts" and "shop > b.ts"'),
    ],
    ['suites', runs(label('suite', 'a'), label('suite', 'b')), collision(2, '`suite` labels differ: "a" and "b"')],
    [
      'the same suites in another order',
      runs({ status: 'failed', ...label('suite', 'a', 'b') }, label('suite', 'b', 'a')),
      [],
    ],
    ['another label', runs({ status: 'failed', ...label('thread', 'a') }, label('thread', 'b')), []],
    [
      'retries of different tests',
      runs({ status: 'failed', ...label('package', 'a') }, { status: 'passed', ...label('package', 'b') }),
      collision(2, '`package` labels differ: "a" and "b"'),
    ],
    ['directories', runs({ directory: 'a' }, { directory: 'b' }), collision(2, 'directories differ: "a" and "b"')],
    // identifiers
    ['an identifier each', runs({ name: 'a', ...id('1') }, { name: 'b', ...id('2') }), []],
    [
      'an identifier each, of which one is not valid',
      runs({ name: 'a', ...id('1') }, { name: 'b', ...id('x') }),
      collision(2, 'names differ: "a" and "b"'),
    ],
    [
      'one identifier',
      runs({ name: 'a', ...id('1') }, { name: 'b', ...id('01') }),
      collision(2, 'names differ: "a" and "b"'),
    ],
    [
      'an identifier each, and one that is retried',
      runs({ status: 'failed', ...id('1') }, { status: 'passed', ...id('2') }, { status: 'passed', ...id('1') }),
      [],
    ],
    [
      'an identifier each, and data of one that is not written',
      runs({ status: 'passed', ...id('1') }, { status: 'passed', ...id('2') }, { status: 'failed', ...id('1') }),
      missing(3, outcomes('"passed" and "failed"')),
    ],
  ])('%s', (_title, group, expected) => {
    expect(told(group)).toEqual(expected)
  })
})
