import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lintSettings } from '../../../src/runtime/lint/index.ts'

let place: string
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'lint-settings-')))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(place, name)), { recursive: true })
  writeFileSync(join(place, name), text)
}
const settings = async (
  directories: string[],
  file: string | null = null,
  home = '/nowhere',
): ReturnType<typeof lintSettings> => lintSettings({ file, directories, workingDirectory: place, home })

test('everything that may stand there', async () => {
  write(
    '.testops-lint.yaml',
    'rules:\n  long-field: off\n  name-collision: error\nmax-warnings: 5\nprevious: old/results\nagent-log: ' +
      '[one.log, /var/two.log]\nchanging: [started, BUILD_ID]\n' +
      'ignore: [{rule: bad-json, reason: INC-7, until: 2027-01-31}]\n',
  )
  expect(await settings(['results'])).toEqual({
    file: '.testops-lint.yaml',
    rules: new Map([
      ['long-field', 'off'],
      ['name-collision', 'error'],
    ]),
    maxWarnings: 5,
    previous: join(place, 'old/results'),
    agentLogs: [join(place, 'one.log'), '/var/two.log'],
    changing: ['started', 'BUILD_ID'],
    ignore: [{ rule: 'bad-json', reason: 'INC-7', until: '2027-01-31' }],
  })
})

test.each(['', '# nothing yet\n', '---\n'])('%j says nothing', async (text) => {
  write('.testops-lint.yaml', text)
  expect(await settings(['.'])).toEqual({
    file: '.testops-lint.yaml',
    rules: new Map(),
    agentLogs: [],
    changing: [],
    ignore: [],
  })
})

describe('where it is looked for', () => {
  test.each<[what: string, file: string, directory: string, found: string | null]>([
    ['in the directory', 'a/b/.testops-lint.yaml', 'a/b', 'a/b/.testops-lint.yaml'],
    ['in a parent', 'a/.testops-lint.yaml', 'a/b/c', 'a/.testops-lint.yaml'],
    ['of a directory that is not there', 'a/.testops-lint.yaml', 'a/none/none', 'a/.testops-lint.yaml'],
    ["in the repository's root", 'repository/.testops-lint.yaml', 'repository/x', 'repository/.testops-lint.yaml'],
    ['not above it', '.testops-lint.yaml', 'repository/x', null],
    ['nor above the home folder', '.testops-lint.yaml', 'home/x', null],
    ['nor in a folder beside', 'beside/.testops-lint.yaml', 'a', null],
  ])('%s', async (_, file, directory, found) => {
    mkdirSync(join(place, 'repository/.git'), { recursive: true })
    write(file, 'max-warnings: 1\n')
    expect((await settings([directory], null, join(place, 'home')))?.file ?? null).toBe(found)
  })

  test('the one that is named stands above all', async () => {
    write('.testops-lint.yaml', 'max-warnings: 1\n')
    write('other.yaml', 'max-warnings: 2\n')
    expect((await settings(['.'], 'other.yaml'))?.maxWarnings).toBe(2)
  })

  test.each<[what: string, target: string, isRefused: boolean]>([
    ['within its folder', 'b/other.yaml', false],
    ['out of its folder', '../secret.yaml', true],
    ['out of its folder by another link', 'b/link.yaml', true],
    ['to a folder whose name begins alike', '../a-other/secret.yaml', true],
  ])('a link %s', async (_, target, isRefused) => {
    write('a/b/other.yaml', 'max-warnings: 3\n')
    for (const name of ['secret.yaml', 'a-other/secret.yaml']) write(name, 'never: [to-be-quoted\n')
    symlinkSync('../../secret.yaml', join(place, 'a/b/link.yaml'))
    symlinkSync(target, join(place, 'a/.testops-lint.yaml'))
    const found = settings(['a/b'])
    if (!isRefused) return expect((await found)?.maxWarnings).toBe(3)
    const real = realpathSync(join(place, 'a', target))
    await expect(found).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        'the settings file a/.testops-lint.yaml is a symbolic link to a file outside its folder, so it was not read',
      suggestions: [`--settings ${real}   # uses that file anyway`, '--settings none   # judge without settings'],
    })
    // named, it is the user's word
    await expect(settings(['a/b'], 'a/.testops-lint.yaml')).rejects.toMatchObject({
      message: expect.stringContaining('is not valid YAML') as string,
    })
  })

  test('several directories must have one', async () => {
    write('a/.testops-lint.yaml', 'max-warnings: 1\n')
    write('b/.testops-lint.yaml', 'max-warnings: 2\n')
    expect((await settings(['a', 'a/x']))?.file).toBe('a/.testops-lint.yaml')
    await expect(settings(['a', 'b', 'c'])).rejects.toMatchObject({
      code: 'USAGE',
      message: 'the directories have different settings: a/.testops-lint.yaml, b/.testops-lint.yaml, none',
      suggestions: ['--settings a/.testops-lint.yaml', '--settings b/.testops-lint.yaml', '--settings none'],
    })
  })
})

describe('what is wrong is told with its line', () => {
  test.each<[text: string, message: string]>([
    [
      'rules:\n  long-fild: off\n',
      '`rules.long-fild` at .testops-lint.yaml:2 is an unknown rule; did you mean `long-field`?',
    ],
    ['rules:\n  long-field: of\n', '`rules.long-field` at .testops-lint.yaml:2 must be off, warning or error'],
    ['rules:\n  long-field: false\n', '`rules.long-field` at .testops-lint.yaml:2 must be text, not true or false'],
    ['rules: off\n', '`rules` at .testops-lint.yaml:1 must be a section with keys, not text'],
    ['# x\nmax-warning: 1\n', 'unknown key `max-warning` at .testops-lint.yaml:2; did you mean `max-warnings`?'],
    ['max-warnings: -1\n', '`max-warnings` at .testops-lint.yaml:1 must be a whole number, 0 or more, not -1'],
    ['max-warnings: many\n', '`max-warnings` at .testops-lint.yaml:1 must be a whole number, 0 or more, not text'],
    ['changing: started\n', '`changing` at .testops-lint.yaml:1 must be a list, not text'],
    ['previous: ""\n', '`previous` at .testops-lint.yaml:1 is empty'],
    ['- a\n', 'the configuration at .testops-lint.yaml:1 must be a section with keys, not a list'],
    ['rules: {\n', '.testops-lint.yaml:1 is not valid YAML: '],
  ])('%j', async (text, message) => {
    write('.testops-lint.yaml', text)
    await expect(settings(['.'])).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining(message) as string,
    })
  })

  test('all at once, in the order of the file', async () => {
    write(
      '.testops-lint.yaml',
      'rules:\n  orphan: off\n  bad-json: bad\nmax-warnings: -1\nprevious: 5\nextra: 1\nagent-log: [a.log, ' +
        '""]\nchanging: []\n',
    )
    await expect(settings(['.'])).rejects.toMatchObject({
      code: 'CONFIGURATION',
      suggestions: [],
      message: [
        'there are 7 mistakes',
        '`rules.orphan` at .testops-lint.yaml:2 is an unknown rule; did you mean `orphan-attachment`?',
        '`rules.bad-json` at .testops-lint.yaml:3 must be off, warning or error',
        '`max-warnings` at .testops-lint.yaml:4 must be a whole number, 0 or more, not -1',
        '`previous` at .testops-lint.yaml:5 must be text, not a number; put it in quotes: "5"',
        'unknown key `extra` at .testops-lint.yaml:6; keys allowed there: rules, max-warnings, previous, ' +
          'agent-log, ignore, changing',
        '`agent-log[1]` at .testops-lint.yaml:7 is empty; leave the key out',
        '`changing` at .testops-lint.yaml:8 is an empty list; leave the key out',
      ].join('\n- '),
    })
  })

  test('of very many the first ones', async () => {
    write('.testops-lint.yaml', `rules: {${Array.from({ length: 100 }, (_, at) => `x${at}: off`).join(', ')}}`)
    await expect(settings(['.'])).rejects.toThrow(
      /^there are 100 mistakes(?:\n- `rules\.x\d+` at .*){20}\n- and 80 more$/,
    )
  })

  test.each<[string, string]>([
    ['none.yaml', 'cannot read the settings none.yaml: the file is missing'],
    ['.', 'cannot read the settings .: it is a directory'],
    ['latin1.yaml', 'cannot read the settings latin1.yaml: it is not UTF-8 text'],
    ['large.yaml', 'large.yaml is too large: settings may have at most 1000000 bytes'],
  ])('%s', async (file, message) => {
    writeFileSync(join(place, 'latin1.yaml'), Buffer.from([0xe9]))
    write('large.yaml', '#'.repeat(1_000_001))
    const failed = settings(['.'], file)
    await expect(failed).rejects.toMatchObject({ code: 'CONFIGURATION' })
    await expect(failed).rejects.toThrow(file === '.' ? /it is a directory/ : message)
  })
})
