import { describe, expect, test } from 'vitest'
import { candidatesFor, joinedWords, linesFor, pathIn, scriptFor, shells } from '../../src/cli/completion.ts'
import type { Candidate, KnownCommand, Values } from '../../src/cli/completion.ts'

const named = (...texts: string[]): Candidate[] => texts.map((text) => ({ text, about: `about ${text}` }))
const common = {
  deployment: { type: 'option', char: 'd', summary: 'Choose' },
  json: { type: 'boolean', summary: 'JSON' },
} as const
const command = (id: string, of: Partial<KnownCommand> = {}): KnownCommand => ({
  id,
  summary: `Summary of ${id}`,
  flags: common,
  args: {},
  ...of,
})
const commands = [
  command('doctor', {
    flags: {
      ...common,
      only: { type: 'option', summary: 'Only', multiple: true, delimiter: ',' },
      'fail-on': { type: 'option', summary: 'Fail', options: ['warning', 'error'] },
      output: { type: 'option', summary: 'File', multiple: true },
      secret: { type: 'boolean', hidden: true },
    },
  }),
  command('init', { flags: { ...common, template: { type: 'option', summary: 'Render' } } }),
  command('explain', { args: { query: {} } }),
  command('lab:break', { args: { faults: {} } }),
  command('lab:up'),
  command('report'),
  command('report:show', { args: { file: {} } }),
  command('resume', { args: { run: {} } }),
  command('completion', { args: { shell: { options: ['bash', 'zsh'] } } }),
  command('hidden', { hidden: true }),
]
const asked: (string | null)[] = []
const values: Values = {
  deployments: async () => named('prod', 'staging'),
  checks: async (deployments) =>
    named('broker', 'broker/alarms', 'api/token', ...[deployments ?? []].flat().map((name) => `own/of-${name}`)),
  rules: async () => named('bad-json=off'),
  runs: async (deployment) => {
    asked.push(deployment)
    return named('RUN-1')
  },
  entries: async () => named('stuck-lock', 'database/changelog-lock'),
  faults: async () => named('disk-full', 'debug-left-on'),
}

describe('what may stand in place of the last word', () => {
  test.each<[line: string, texts: string[] | null]>([
    ['', ['doctor', 'init', 'explain', 'lab', 'report', 'resume', 'completion']],
    ['re', ['report', 'resume']],
    ['lab ', ['break', 'up']],
    ['lab b', ['break']],
    ['nothing ', []],
    ['--', ['--help', '--version']],
    ['doctor --', ['--deployment', '--json', '--only', '--fail-on', '--output', '--help']],
    ['doctor --json --o', ['--only', '--output']],
    ['doctor --json --j', []],
    ['doctor --only x --on', ['--only']],
    ['doctor -d ', ['prod', 'staging']],
    ['doctor --deployment=s', ['--deployment=staging']],
    ['doctor --only br', ['broker', 'broker/alarms']],
    ['doctor --only broker,api', ['broker,api/token']],
    ['doctor --only broker api', ['api/token']],
    ['doctor --only broker --json api', []],
    ['doctor --only own/', []],
    ['doctor -d a --only own/', ['own/of-a']],
    ['doctor -d a --deployment=b --only own/', ['own/of-a', 'own/of-b']],
    ['doctor --all --only own/', ['own/of-all']],
    ['doctor --fail-on ', ['warning', 'error']],
    ['doctor --fail-on warning,', []],
    ['doctor --output ', null],
    ['init --template g', ['github-actions', 'gitlab-ci', 'grafana']],
    ['init --template=ro', ['--template=roles']],
    ['doctor x', []],
    ['doctor -- ', null],
    ['report ', ['show']],
    ['report show ', null],
    ['explain stuck', ['stuck-lock']],
    ['explain stuck-lock ', []],
    ['lab break disk-full de', ['debug-left-on']],
    ['resume ', ['RUN-1']],
    ['resume RUN-1 ', []],
    ['completion z', ['zsh']],
  ])('%s', async (line, texts) => {
    const found = await candidatesFor(line.split(' '), commands, values)
    expect(found && found.map(({ text }) => text)).toEqual(texts)
  })

  test('runs are those of the deployment on the line', async () => {
    asked.length = 0
    for (const line of ['resume ', 'resume -d prod ', 'resume --deployment=staging '])
      await candidatesFor(line.split(' '), commands, values)
    expect(asked).toEqual([null, 'prod', 'staging'])
  })
})

test.each([
  ['a.yaml', 'a.yaml'],
  ['~/a.yaml', '/home/me/a.yaml'],
  ['~other/a.yaml', '~other/a.yaml'],
  ['$HOME/a.yaml', '/home/me/a.yaml'],
  ['"${HOME}/my dir/a.yaml"', '/home/me/my dir/a.yaml'],
  ['"$HOME"/a.yaml', '/home/me/a.yaml'],
  ["'my dir'/a.yaml", 'my dir/a.yaml'],
  ["'$HOME/a.yaml'", '$HOME/a.yaml'],
  ['my\\ dir/a.yaml', 'my dir/a.yaml'],
  ['"a \\"b\\".yaml"', 'a "b".yaml'],
  ['$HOMES/a.yaml', '$HOMES/a.yaml'],
  ['', ''],
])('the word %s names the file %s', (word, file) => {
  expect(pathIn(word, '/home/me')).toBe(file)
})

test('what bash has split is put together again', () => {
  expect(joinedWords(['doctor', '--only', '=', 'br'])).toEqual(['doctor', '--only=br'])
  expect(joinedWords(['doctor', '--only', '='])).toEqual(['doctor', '--only='])
  expect(joinedWords(['doctor', '--only', 'br'])).toEqual(['doctor', '--only', 'br'])
})

describe('the lines that a shell reads', () => {
  const all = [
    { text: '--only=broker', about: 'a\tb\n\u001b[31mc' },
    ...named('a;rm', '$(x)', 'a b', '`x`', "a'b", 'a*'),
  ]
  test.each([
    ['bash', 'broker\n'],
    ['zsh', '--only=broker:a b \\x1b[31mc\n'],
    ['fish', '--only=broker   # a b \\x1b[31mc\n'],
  ] as const)('%s: names that a shell would not take as they stand are left out', (shell, text) => {
    expect(linesFor(shell, all, '--only=')).toBe(text)
  })

  test.each(shells)('%s has a script', (shell) => {
    expect(scriptFor(shell)).toContain(`testops-admin completion ${shell} --line -- `)
  })
})
