import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { partOfFile } from '../../../src/adapters/input/file.ts'
import { AdminError } from '../../../src/core/error.ts'
import { isSecretName } from '../../../src/core/redaction/table.ts'
import { filesBeforeAgent } from '../../../src/results/rules/files-before-agent.ts'
import {
  emptyResults,
  judgeEnvironment,
  missingAttachment,
  nestedFile,
  orphanAttachment,
  oversize,
  parameterPairs,
  volatileBetween,
} from '../../../src/results/rules/index.ts'
import { listed, quoted } from '../../../src/results/rules/said.ts'
import { result } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'rules-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a directory without results', () => {
  const none = { entries: [], childrenWithResults: [] }
  it.each([
    [{ ...none, kind: 'missing' }, 'the directory does not exist'],
    [{ ...none, kind: 'not-a-directory' }, 'the path is not a directory'],
    [{ ...none, kind: 'no-results' }, 'the directory is empty'],
    [
      { ...none, kind: 'no-results', entries: ['a.xml', 'b', 'c', 'd', 'e'] },
      'the directory contains no `*-result.json`. Contents: "a.xml", "b", "c" and 2 more',
    ],
    [
      { ...none, kind: 'no-results', entries: ['a-result.json'] },
      'the directory contains no `*-result.json` that could be read. Contents: "a-result.json"',
    ],
    [
      {
        kind: 'no-results',
        entries: ['app', 'core'],
        childrenWithResults: [
          { path: 'app/allure-results', results: 1204 },
          { path: 'core', results: 1 },
        ],
      },
      'the root of the directory contains no `*-result.json`, but subdirectories contain results: ' +
        '"app/allure-results" (1,204 results) and "core" (1 result)',
    ],
  ] as const)('%j', (listing, message) => {
    expect(emptyResults(listing).message).toBe(message)
  })
})

describe('a file that is too large', () => {
  it('says what takes the room', () => {
    const content = {
      name: 'a',
      description: 'b'.repeat(1000),
      steps: [{ name: 'c', steps: [{ name: 'x'.repeat(1_900_000) }] }],
    }
    expect(oversize(2_000_001, content)).toEqual({
      message: 'the file has 2,000,001 bytes, but only 2,000,000 are allowed; the largest part is `steps`',
      place: 'steps',
    })
    expect(oversize(2_000_001, { statusDetails: { trace: 'x'.repeat(1_000_000) } }).place).toBe('statusDetails.trace')
  })

  it('says its size alone where nothing else is known', () => {
    const message = 'the file has 3,221,225,472 bytes, but only 2,000,000 are allowed'
    expect(oversize(3_221_225_472, null)).toEqual({ message })
    expect(oversize(3_221_225_472, { name: 'a' })).toEqual({ message })
  })
})

describe('attachments', () => {
  const named = { place: 'attachments[0].source', source: 'a-attachment.txt' }
  it.each([
    [missingAttachment(named), 'the attachment "a-attachment.txt" is not in the results directory'],
    [missingAttachment({ ...named, source: '' }), 'an attachment has no file name'],
    [nestedFile('x/a.png'), 'the attachment "x/a.png" is in a subdirectory'],
    [orphanAttachment('a-attachment.txt'), 'no result refers to this file'],
    [
      orphanAttachment('a-result.json.tmp'),
      'no result refers to this file. If it is a result file, its name must end in `-result.json`',
    ],
  ])('%j', ({ message }, expected) => {
    expect(message).toBe(expected)
  })
})

describe('the log of an agent', () => {
  const log = (text: string): string => {
    const file = join(folder, 'agent.log')
    writeFileSync(file, text)
    return file
  }

  it.each([
    [
      'Test run finished, waiting for upload to finish...\nAll files have been processed: indexed [17], ' +
        'processed [0], errors [17]\n',
      ["the agent's log shows 17 files indexed, 0 processed and 17 errors"],
      'line 2',
    ],
    [
      'processed [0], errors [1], indexed [1]',
      ["the agent's log shows 1 file indexed, 0 processed and 1 error"],
      'line 1',
    ],
    [
      'indexed [2], processed [0], errors [2]\nindexed [5], processed [5]\nindexed [3], processed [0], errors [1]\n',
      [
        "the agent's log shows 2 files indexed, 0 processed and 2 errors",
        "the agent's log shows 3 files indexed, 0 processed and 1 error",
      ],
      undefined,
    ],
    ['All files have been processed: indexed [17], processed [17]', [], undefined],
    ['All files have been processed: indexed [0], processed [0], errors [1]', [], undefined],
    ['indexed [3], processed [0]', [], undefined],
    [
      "We weren't able to index files during [5m]: found [17], indexed [0]",
      ["the agent's log shows 17 files found and 0 indexed"],
      'line 1',
    ],
    [
      "started\nWe weren't able to index files during [5m]: indexed [0], found [1]",
      ["the agent's log shows 1 file found and 0 indexed"],
      'line 2',
    ],
    ["We weren't able to index files during [5m]: found [0], indexed [0]", [], undefined],
    ["We weren't able to index files during [5m]: found [17], indexed [17]", [], undefined],
    ['nothing of that', [], undefined],
    ['', [], undefined],
  ])('%j', async (text, messages, place) => {
    const { found, unread } = await filesBeforeAgent(partOfFile(log(text)))
    expect(unread).toBeNull()
    expect(found.map(({ message }) => message)).toEqual(messages)
    expect(found[0]?.place).toBe(place)
  })

  it('what could be read of it is judged', async () => {
    const blocks = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('indexed [17], processed [0], errors [17]\n')
      throw new AdminError('UNEXPECTED_ANSWER', 'it is cut short')
    }
    const { found, unread } = await filesBeforeAgent({ name: 'agent.log', blocks })
    expect([found.length, unread]).toEqual([1, 'it is cut short'])
  })

  it('can be interrupted', async () => {
    await expect(filesBeforeAgent(partOfFile(log('a')), AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    )
  })
})

describe('two runs', () => {
  it('are compared by each parameter that counts', () => {
    const pairs: string[] = []
    const parameters = [
      { name: 'a', value: '1' },
      { name: 'b', value: '2', excluded: true },
      { name: 'c', value: '3' },
      { name: 'd' },
      { value: '4' },
      null,
    ]
    parameterPairs(result({ parameters }), new Set(['c']), (name, value) => pairs.push(`${name} ${value}`))
    parameterPairs(result({ parameters, fullName: null }), new Set(), (name, value) => pairs.push(`${name} ${value}`))
    parameterPairs(result({ parameters: null }), new Set(), (name, value) => pairs.push(`${name} ${value}`))
    expect(pairs).toEqual(['shop.Login.logsIn\0a 1', 'shop.Login.logsIn\0d '])
  })

  it.each<[isEarlier: boolean, names: string[]]>([
    [false, ['goods']],
    [true, ['folder', 'goods']],
  ])('what looks volatile counts in the earlier one alone: %s', (isEarlier, names) => {
    const pairs: string[] = []
    const parameters = [
      { name: 'folder', value: '/tmp/abc/x' },
      { name: 'goods', value: 'apple' },
    ]
    parameterPairs(result({ parameters }), new Set(), (name) => pairs.push(name.split('\0')[1]!), isEarlier)
    expect(pairs).toEqual(names)
  })

  it.each([
    [
      volatileBetween('a.b', 'stand', ['one'], ['two']),
      'the parameter "stand" of "a.b" differs from the previous run: "one" before, "two" now',
    ],
    [
      volatileBetween('a.b', 'n', ['1', '2', '3'], ['4', '5']),
      'the parameter "n" of "a.b" differs from the previous run: "1" and 2 more before, "4" and 1 more now',
    ],
    [volatileBetween('a.b', 'apiKey', ['1'], ['2']), 'the parameter "apiKey" of "a.b" differs from the previous run'],
    [volatileBetween('a.b', 'n', ['1'], ['2'], true), 'the parameter "n" of "a.b" differs from the previous run'],
  ])('%j', ({ message }, expected) => {
    expect(message).toBe(expected)
  })
})

describe('the environment', () => {
  const environment = (entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
    new Map(Object.entries(entries))
  const now = environment({
    browser: 'chrome 126',
    build: '42',
    'db.url': 'jdbc:postgresql://localhost:49157/test',
    token: 'abc',
    home: '/home/anna/shop',
  })

  it('looks as if it changed', () => {
    expect(judgeEnvironment(now, null, new Set()).map(({ message, place }) => `${place}: ${message}`)).toEqual([
      'db.url: the environment entry "db.url" contains a port that the system picks at each start: ' +
        '"jdbc:postgresql://localhost:49157/test"',
      'home: the environment entry "home" contains a path that depends on the machine or the run: "/home/anna/shop"',
    ])
  })

  it('is another than before', () => {
    const before = environment({
      browser: 'chrome 126',
      build: '41',
      'db.url': 'jdbc:postgresql://localhost:49153/test',
      token: 'xyz',
      home: '/home/anna/shop',
      gone: '1',
    })
    expect(judgeEnvironment(now, before, new Set()).map(({ message }) => message)).toEqual([
      'the environment entry "build" differs from the previous run: "41" before, "42" now',
      'the environment entry "db.url" differs from the previous run: "jdbc:postgresql://localhost:49153/test" ' +
        'before, "jdbc:postgresql://localhost:49157/test" now',
      'the environment entry "token" differs from the previous run',
    ])
    expect(judgeEnvironment(now, before, new Set(['build', 'db.url', 'token']))).toEqual([])
    expect(judgeEnvironment(now, now, new Set())).toEqual([])
  })
})

it('lists in words', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']].map((items) => listed(items, 2))).toEqual([
    '',
    'a',
    'a and b',
    'a, b and 1 more',
    'a, b and 2 more',
  ])
})

it.each([
  ['apple', '"apple"'],
  ['x'.repeat(61), `"${'x'.repeat(59)}…"`],
  [`${'x'.repeat(58)}\u{1f600}y`, `"${'x'.repeat(58)}…"`],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', '"[secret]"'],
  ['glpat-abcdefghij0123456789', '"[secret]"'],
  ['password=word', '"password=[secret]"'],
  ['Bearer abcdef', '"Bearer [secret]"'],
  ['postgresql://anna:word@db/test', '"postgresql://[secret]@db/test"'],
  [`${'x '.repeat(25)}password=${'long'.repeat(10)}`, `"${'x '.repeat(25)}password=…"`],
])('shows %s', (value, expected) => {
  expect(quoted(value)).toBe(expected)
})

it.each([
  ['password', true],
  ['userPassword', true],
  ['db.pwd', true],
  ['PIN', true],
  ['accessToken', true],
  ['api_key', true],
  ['Authorization', true],
  ['passenger', false],
  ['spin', false],
  ['compass', false],
  ['keyboard', false],
  ['author', false],
])('%s: a secret: %s', (name, isSecret) => {
  expect(isSecretName(name)).toBe(isSecret)
})
