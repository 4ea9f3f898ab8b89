import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, truncate, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LintDocument } from '../../src/output/lint/document.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace, program } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
})
afterEach(async () => place.remove())

const good = { uuid: '1', name: 'signs in', fullName: 'shop.Login.signsIn', status: 'passed', start: 1, stop: 2 }
const results = async (directory: string, files: Record<string, object | string>): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(place.directory, directory, name, '..'), { recursive: true })
    await writeFile(
      join(place.directory, directory, name),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
}
const run = async (...words: string[]): Promise<Ended> => place.run(['lint-results', ...words])
const documentIn = ({ stdout }: Ended): LintDocument => {
  const document = JSON.parse(stdout) as LintDocument
  expect(faultsOf('lint-results', document)).toEqual([])
  return document
}

describe('what is found decides the exit code', () => {
  const long = { ...good, name: 'x'.repeat(256) }
  const unread = { 'a-result.json': good }
  test.each<[what: string, files: Record<string, object | string>, words: string[], code: number]>([
    ['nothing', { 'a-result.json': good }, [], 0],
    ['nothing, in a pipeline', { 'a-result.json': good }, ['--ci'], 0],
    ['an error', { 'a-result.json': '{' }, [], 1],
    ['an error that is turned off', { 'a-result.json': good, 'b-result.json': '{' }, ['--rule', 'bad-json=off'], 0],
    ['an error that is made a warning', { 'a-result.json': '{' }, ['--rule', 'bad-json=warning'], 2],
    ['a warning', { 'a-result.json': long }, [], 2],
    ['a warning that is forgiven', { 'a-result.json': long }, ['--fail-on', 'error'], 0],
    [
      'a warning that is made an error',
      { 'a-result.json': long },
      ['--rule', 'long-field=error', '--fail-on', 'error'],
      1,
    ],
    ['a warning in a pipeline', { 'a-result.json': long }, ['--ci'], 1],
    ['as many warnings as are allowed', { 'a-result.json': long }, ['--ci', '--max-warnings', '1'], 0],
    [
      'more than are allowed, elsewhere',
      { 'a-result.json': { ...long, fullName: 'f'.repeat(256) } },
      ['--max-warnings', '1'],
      1,
    ],
    ['no directory', {}, ['--ci'], 1],
    ['a file that cannot be judged', unread, [], 3],
    ['the same, where that counts as failed', unread, ['--fail-on', 'unknown'], 1],
    ['the same, where it does not', unread, ['--fail-on', 'error'], 0],
  ])('%s', async (_, files, words, code) => {
    await results('r', files)
    if (files === unread) execFileSync('mkfifo', [join(place.directory, 'r/b-result.json')])
    const [json, text] = await Promise.all([run('r', '--json', ...words), run('r', ...words)])
    expect([json.exitCode, text.exitCode, text.stderr]).toEqual([code, code, ''])
    documentIn(json)
  })
})

test('an empty directory in a pipeline: the cause, in a line for grep', async () => {
  await mkdir(join(place.directory, 'r'))
  const { exitCode, stdout } = await run('r', '--ci')
  expect([exitCode, stdout]).toEqual([
    1,
    'error empty-results r: the directory is empty\n1 error in r: 0 results in 0 files, 0 B; exit code 1\n',
  ])
})

test.each(['cucumberjs', 'jest', 'mocha', 'playwright', 'vitest'])(
  'the results of allure-%s are as they should be',
  async (adapter) => {
    const directory = fileURLToPath(new URL(`../fixtures/results/allure-${adapter}-3.12.2`, import.meta.url))
    const { exitCode, stdout } = await run(directory, '--json')
    expect([exitCode, documentIn({ stdout, stderr: '', exitCode, milliseconds: 0 }).problems]).toEqual([0, []])
  },
)

describe('wrong usage is told with what is right', () => {
  test.each<[words: string[], message: string, next: string]>([
    [
      [],
      'specify the results directory: the one where the tests write their `*-result.json` files',
      'testops-admin lint-results build/results',
    ],
    [
      ['r', '--rule', 'bad-jsn=off'],
      '--rule: unknown rule `bad-jsn`; did you mean `bad-json`?',
      "testops-admin lint-results --rule ID='off|warning|error'",
    ],
    [
      ['r', '--rule', 'bad-json=of'],
      '--rule bad-json=of: the level must be off, warning or error; did you mean `off`?',
      "testops-admin lint-results --rule bad-json='off|warning|error'",
    ],
    [
      ['r', '--rule', 'bad-json'],
      '--rule bad-json: the level is missing',
      "testops-admin lint-results --rule bad-json='off|warning|error'",
    ],
    [
      ['r', '--max-warnings', '-1'],
      '--max-warnings: expected an integer greater than or equal to 0 but received: -1',
      'testops-admin lint-results --help',
    ],
    [['r', '--bogus'], 'unknown flag for `testops-admin lint-results`: --bogus', 'testops-admin lint-results --help'],
    [
      ['r', '--fix'],
      '--fix never changes the original: name a directory for the corrected copy with --output',
      'testops-admin lint-results r --fix --output r-mended',
    ],
    [
      ['r', '--output', 'to'],
      '--output needs --fix: only --fix writes a corrected copy to the directory given with --output',
      'testops-admin lint-results --fix --output to',
    ],
    [
      ['r', 's', '--fix', '--output', 'to'],
      '--fix takes one directory at a time',
      'testops-admin lint-results r --fix --output r-mended',
    ],
    [['r', '--settings', 'none.yaml'], 'cannot read the settings none.yaml: the file is missing', 'ls -l none.yaml'],
  ])('%j', async (words, message, next) => {
    const { exitCode, stdout } = await run(...words, '--json')
    const document = JSON.parse(stdout) as { error: { message: string; suggestions: string[] } }
    expect(faultsOf('error', document)).toEqual([])
    expect([exitCode, document.error.message, document.error.suggestions[0]]).toEqual([64, message, next])
  })
})

describe('settings', () => {
  test('of the project are used, and said; flags stand above them', async () => {
    await results('.', {
      '.testops-lint.yaml': 'rules: {bad-json: warning}\nmax-warnings: 1\n',
      'r/a-result.json': '{',
      'r/b-result.json': good,
    })
    const [plain, strict, without] = [
      await run('r', '--json'),
      await run('r', '--max-warnings', '0'),
      await run('r', '--settings', 'none', '--json'),
    ]
    expect([
      plain.exitCode,
      documentIn(plain).settings,
      strict.exitCode,
      without.exitCode,
      documentIn(without).settings,
    ]).toEqual([0, '.testops-lint.yaml', 1, 1, undefined])
    expect(strict.stdout).toContain('settings:')
  })
})

test.each(['.', './', '../r', '../r/'])('what is proposed for a copy of %s is beside it', async (name) => {
  await results('r', { 'a-result.json': good })
  const { stderr } = spawnSync(process.execPath, [program, 'lint-results', name, '--fix'], {
    cwd: join(place.directory, 'r'),
    encoding: 'utf8',
  })
  const proposed = /--fix --output (\S+)/.exec(stderr)![1]!
  expect(resolve(await realpath(join(place.directory, 'r')), proposed)).toBe(
    `${await realpath(place.directory)}/r-mended`,
  )
})

test('the log of the agent is judged, packed too, and need not be there where nobody asks what it says', async () => {
  await results('r', { 'a-result.json': good })
  await writeFile(join(place.directory, 'agent.log.gz'), gzipSync('indexed [17], processed [0], errors [17]\n'))
  const judged = await run('r', '--ci', '--agent-log', 'agent.log.gz')
  expect(judged.stdout).toMatch(/^error files-before-agent agent\.log\.gz line 1: /)
  expect((await run('r', '--agent-log', 'none.log')).exitCode).toBe(64)
  expect((await run('r', '--agent-log', 'none.log', '--rule', 'files-before-agent=off')).exitCode).toBe(0)
})

test('results of several directories are judged together, a directory that is named twice once', async () => {
  await results('x', { 'a/1-result.json': good, 'b/2-result.json': { ...good, name: 'other' } })
  const document = documentIn(await run('x/a', 'x/b', './x/a/', '--json'))
  expect([
    document.directory,
    document.directories.map(({ within }) => within),
    document.problems.map(({ rule, togetherCount }) => [rule, togetherCount]),
  ]).toEqual(['x', ['a', 'b'], [['name-collision', 2]]])
})

describe('formats', () => {
  test.each<[format: string, form: RegExp]>([
    [
      'junit',
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites>\n[\s\S]*<failure type="error"[\s\S]*<\/testsuites>\n$/,
    ],
    ['markdown', /^## ❌ Results of r\n[\s\S]*<\/details>\n$/],
  ])('%s', async (format, form) => {
    await results('r', { 'a-result.json': '{' })
    const { exitCode, stdout } = await run('r', '--format', format)
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(form)])
  })

  test('sarif names the directory and the place', async () => {
    await results('r', { 'a-result.json': '{' })
    const { stdout } = await run('r', '--format', 'sarif')
    const log = JSON.parse(stdout) as { runs: { originalUriBaseIds: object; results: { locations: object[] }[] }[] }
    expect(log.runs[0]!.originalUriBaseIds).toEqual({ RESULTS: { uri: `file://${place.directory}/r/` } })
    expect(log.runs[0]!.results[0]!.locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: 'a-result.json', uriBaseId: 'RESULTS' },
          region: { startLine: 1, startColumn: 2 },
        },
      },
    ])
  })

  test('json is the same as --json', async () => {
    await results('r', { 'a-result.json': good })
    expect((await run('r', '--format', 'json')).stdout).toBe((await run('r', '--json')).stdout)
  })
})

describe('--fix', () => {
  test('mends in a copy, and ends as that copy is judged', async () => {
    await results('r', {
      'a-result.json': {
        ...good,
        name: 'x'.repeat(256),
        attachments: [{ name: 'shot', source: 'shots/1-attachment.png', type: 'image/png' }],
      },
      'shots/1-attachment.png': 'png',
    })
    expect((await run('r', '--json')).exitCode).toBe(1)
    const fixed = await run('r', '--fix', '--output', 'mended', '--json')
    const document = documentIn(fixed)
    expect([fixed.exitCode, document.directory, document.problems, document.fix]).toEqual([
      0,
      'mended',
      [],
      {
        from: 'r',
        output: 'mended',
        files: 2,
        mended: { 'nested-attachment': 1, 'long-field': 1 },
        left: [],
        leftCount: 0,
        omitted: [],
      },
    ])
    expect((await run('mended')).exitCode).toBe(0)
    expect((await readdir(join(place.directory, 'r'))).sort()).toEqual(['a-result.json', 'shots'])
    const again = await run('r', '--fix', '--output', 'mended')
    expect([again.exitCode, again.stderr]).toEqual([64, expect.stringContaining('--output: mended is not empty')])
  })

  test.each(['SIGINT', 'SIGKILL'] as const)('%s leaves nothing that looks whole', async (signal) => {
    const large = join(place.directory, 'r/1-attachment.bin')
    await results('r', { 'a-result.json': good, '1-attachment.bin': '' })
    await truncate(large, 3_000_000_000)
    const ended = await place.run(['lint-results', 'r', '--fix', '--output', 'mended'], {
      meanwhile: (child) => {
        const look = setInterval(() => {
          void readdir(place.directory).then((names) => {
            if (!names.some((name) => name.startsWith('.mended.new-'))) return
            clearInterval(look)
            child.kill(signal)
          })
        }, 5)
        child.once('close', () => clearInterval(look))
      },
    })
    const names = await readdir(place.directory)
    expect(names).not.toContain('mended')
    expect((await readFile(join(place.directory, 'r/a-result.json'))).length).toBeGreaterThan(0)
    if (signal === 'SIGINT')
      expect([ended.exitCode, ended.stderr, names.filter((name) => name.includes('mended'))]).toEqual([
        6,
        'Error: interrupted by SIGINT\n',
        [],
      ])
  })
})

test('Ctrl-C while it judges ends with 6 and one line', async () => {
  await results(
    'r',
    Object.fromEntries(
      Array.from({ length: 6000 }, (_, index) => [
        `${index}-result.json`,
        { ...good, fullName: `shop.Test${index}`, description: 'd'.repeat(20_000) },
      ]),
    ),
  )
  const ended = await place.run(['lint-results', 'r'], {
    meanwhile: (child) => {
      const look = setInterval(() => {
        // more than the program itself has: it is at the results
        if (bytesReadBy(child.pid!) < 40_000_000) return
        clearInterval(look)
        child.kill('SIGINT')
      }, 5)
      child.once('close', () => clearInterval(look))
    },
  })
  expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([6, '', 'Error: interrupted by SIGINT\n'])
})

function bytesReadBy(pid: number): number {
  try {
    return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  } catch {
    // it has ended
    return 0
  }
}

test.skipIf(process.platform !== 'linux').each(['json', 'sarif', 'table'])(
  'a full disk under the output is told in one line: %s',
  async (format) => {
    await results('r', { 'a-result.json': good })
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [program, 'lint-results', 'r', '--format', format], {
      cwd: place.directory,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect([status, stderr]).toEqual([69, 'Error: cannot write the output: ENOSPC: no space left on device, write\n'])
  },
)

test('who stops reading ends it without a word', async () => {
  await results('r', Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${index}-result.json`, '{'])))
  const ended = await place.run(['lint-results', 'r', '--ci'], {
    meanwhile: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
  })
  expect(ended.stderr).toBe('')
})
