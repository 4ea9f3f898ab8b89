import { expect, test } from 'vitest'
import { commonParent, lintDocument } from '../../../src/cli/lint/document.ts'
import type { LintReport, Problem } from '../../../src/results/problem.ts'
import { faultsOf } from '../../output/schemas.ts'

test.each<[directories: string[], parent: string]>([
  [['results'], 'results'],
  [['./results/'], './results/'],
  [['a/results', 'b/results'], '.'],
  [['x/a/results', 'x/b'], 'x'],
  [['x/a', 'x/ab'], 'x'],
  [['x', 'x/a'], 'x'],
  [['/srv/a', '/srv/b/c'], '/srv'],
  [['/srv/a', '/var/b'], '/'],
  [['../one', '../two'], '/home'],
])('the nearest directory around %j is %s', (directories, parent) => {
  expect(commonParent(directories, '/home/me')).toBe(parent)
})

const problem = (directory: string, file: string): Problem => ({
  rule: 'bad-json',
  severity: 'error',
  directory,
  file,
  message: 'm',
  effect: 'e',
  remedy: 'r',
})
const report = (directories: string[], problems: Problem[]): LintReport => ({
  directories: directories.map((directory) => ({ directory, files: 2, results: 1, bytes: 10 })),
  counts: new Map([['bad-json', { error: problems.length, warning: 0 }]]),
  problems,
  undetermined: [{ directory: directories[0]!, file: 'u', message: 'm' }],
  undeterminedCount: 3,
})
const about = {
  severities: new Map([
    ['long-field', 'off'],
    ['bad-json', 'error'],
  ] as const),
  workingDirectory: '/home/me',
}

test.each<[what: string, directories: string[], problems: Problem[], files: string[]]>([
  [
    'of one directory',
    ['r/'],
    [problem('r/', 'a-result.json'), problem('r/', ''), problem('r/', 's/x.png')],
    ['a-result.json', '.', 's/x.png'],
  ],
  ['of several', ['x/a', 'x/b/'], [problem('x/a', 'a-result.json'), problem('x/b/', '')], ['a/a-result.json', 'b']],
  ['of one in the other', ['x', 'x/b'], [problem('x', ''), problem('x/b', 'b.json')], ['.', 'b/b.json']],
  ['of an agent', ['r'], [problem('', 'agent.log'), problem('', '/home/me/r/in.log')], ['../agent.log', 'in.log']],
])('files are relative to the directory: %s', (_, directories, problems, files) => {
  const document = lintDocument(report(directories, problems), about)
  expect(document.problems.map(({ file }) => file)).toEqual(files)
  expect(faultsOf('lint-results', JSON.parse(JSON.stringify(document)))).toEqual([])
})

test('sums, what was turned off, and results that become one', () => {
  const together = [{ directory: 'x/b', file: 'b-result.json', name: 'n', start: 5 }]
  const document = lintDocument(report(['x/a', 'x/b'], [{ ...problem('x/a', 'a'), together, result: { name: 'n' } }]), {
    ...about,
    settings: 's.yaml',
  })
  expect(document).toMatchObject({
    directory: 'x',
    settings: 's.yaml',
    files: 4,
    results: 2,
    bytes: 20,
    off: ['long-field'],
    summary: { error: 1, warning: 0 },
    rules: { 'bad-json': { error: 1 } },
    undetermined: [{ file: 'a/u' }],
    undeterminedCount: 3,
  })
  expect(document.problems[0]).toMatchObject({
    together: [{ file: 'b/b-result.json', name: 'n', start: 5 }],
    togetherCount: 1,
    result: { name: 'n' },
  })
})
