import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { partOfFile } from '../../../src/adapters/input/file.ts'
import { resultRules, ruleIds } from '../../../src/knowledge/result-rules.ts'
import type { RuleId } from '../../../src/knowledge/result-rules.ts'
import { directoryOf, problemsIn } from './directories.ts'
import type { Files } from './directories.ts'
import { begin, result } from './support.ts'

type Content = Parameters<typeof result>[0]

const [a, b] = ['a-result.json', 'b-result.json']
const one = (content: Content = {}): object => result(content).content
const attached = (source: string) => ({ attachments: [{ name: 'log', source, type: 'text/plain' }] })
const later = { start: begin + 2000, stop: begin + 3000 }

/** A result of so many bytes. */
function ofBytes(bytes: number): string {
  const text = JSON.stringify(one({ description: '' }))
  return JSON.stringify(one({ description: 'x'.repeat(bytes - Buffer.byteLength(text)) }))
}

/** Nested as deep as is asked for. */
function deep(levels: number, innermost: string): string {
  const opened = '"steps":[{'.repeat(levels)
  const closed = '}]'.repeat(levels)
  return `{"name":"a","fullName":"b","status":"passed",${opened}${innermost}${closed}}`
}

const sound: readonly (readonly [title: string, files: Files])[] = [
  ['a result', { [a]: one() }],
  ['exactly 2,000,000 bytes', { [a]: ofBytes(2_000_000) }],
  ['255 characters', { [a]: one({ name: 'n'.repeat(255), fullName: 'f'.repeat(255) }) }],
  ['an attachment', { [a]: one(attached('x-attachment.txt')), 'x-attachment.txt': 'text' }],
  [
    'attachments of steps and fixtures',
    {
      [a]: one({ steps: [{ steps: [attached('x-attachment.txt')] }] }),
      'c-container.json': {
        uuid: 'c',
        children: ['one'],
        befores: [attached('y-attachment.txt')],
        afters: [{ steps: [attached('z-attachment.txt')] }],
      },
      'x-attachment.txt': 'x',
      'y-attachment.txt': 'y',
      'z-attachment.txt': 'z',
    },
  ],
  [
    'an attachment of two results',
    {
      [a]: one(attached('x-attachment.txt')),
      [b]: one({ fullName: 'b', ...attached('x-attachment.txt') }),
      'x-attachment.txt': 'text',
    },
  ],
  [
    'files that adapters write beside',
    {
      [a]: one(),
      'executor.json': {},
      'categories.json': [],
      'environment.properties': 'browser=chrome\n',
      'history/history.json': {},
    },
  ],
  ['a retry', { [a]: one({ status: 'failed' }), [b]: one(later) }],
  ['a mark of UTF-8 at the beginning', { [a]: `\ufeff${JSON.stringify(one())}` }],
  ['100,000 levels of steps', { [a]: deep(100_000, '"name":"c"') }],
]

const broken: readonly (readonly [rule: RuleId, title: string, files: Files, places: readonly string[]])[] = [
  ['empty-results', 'nothing', {}, ['']],
  ['empty-results', 'results in a subdirectory', { 'allure-results/a-result.json': one() }, ['']],
  ['oversize-result', 'one byte too many', { [a]: ofBytes(2_000_001) }, ['a-result.json description']],
  ['long-field', '256 characters of a name', { [a]: one({ name: 'n'.repeat(256) }) }, ['a-result.json name']],
  ['long-field', '128 emoji', { [a]: one({ fullName: '\u{1f600}'.repeat(128) }) }, ['a-result.json fullName']],
  [
    'long-field',
    'a label, a link and a parameter',
    {
      [a]: one({
        labels: [{ name: 'story', value: 'x'.repeat(256) }],
        links: [{ url: `https://${'x'.repeat(248)}` }],
        parameters: [{ name: 'p', value: 'x'.repeat(256) }],
      }),
    },
    ['a-result.json labels[0].value', 'a-result.json links[0].url', 'a-result.json parameters[0].value'],
  ],
  [
    'nested-attachment',
    'by its source',
    { [a]: one(attached('shots/x-attachment.png')), 'shots/x-attachment.png': 'x' },
    ['a-result.json attachments[0].source'],
  ],
  [
    'nested-attachment',
    'by its file',
    { [a]: one(attached('x-attachment.png')), 'shots/x-attachment.png': 'x' },
    ['shots/x-attachment.png'],
  ],
  [
    'nested-attachment',
    'in a fixture',
    { [a]: one(), 'c-container.json': { befores: [attached('shots/x.png')] }, 'shots/x.png': 'x' },
    ['c-container.json befores[0].attachments[0].source'],
  ],
  [
    'missing-attachment',
    'of a result',
    { [a]: one(attached('x-attachment.txt')) },
    ['a-result.json attachments[0].source'],
  ],
  [
    'missing-attachment',
    'of a step',
    { [a]: one({ steps: [{ name: 's', ...attached('x-attachment.txt') }] }) },
    ['a-result.json steps[0].attachments[0].source'],
  ],
  ['orphan-attachment', 'named by nobody', { [a]: one(), 'x-attachment.txt': 'x' }, ['x-attachment.txt']],
  ['no-identifier', 'neither label nor full name', { [a]: one({ fullName: null }) }, ['a-result.json']],
  [
    'invented-identifier',
    'a word',
    { [a]: one({ labels: [{ name: 'AS_ID', value: 'LOGIN-1' }] }) },
    ['a-result.json labels[0].value'],
  ],
  [
    'invented-identifier',
    'a word, and no full name',
    { [a]: one({ fullName: null, labels: [{ name: 'as_id', value: '0' }] }) },
    ['a-result.json labels[0].value'],
  ],
  [
    'name-collision',
    'two names',
    { [a]: one({ name: 'logs in' }), [b]: one({ name: 'logs out', ...later }) },
    ['a-result.json fullName'],
  ],
  [
    'name-collision',
    'two suites',
    {
      [a]: one({ labels: [{ name: 'suite', value: 'shop' }] }),
      [b]: one({ labels: [{ name: 'suite', value: 'cart' }], ...later }),
    },
    ['a-result.json fullName'],
  ],
  [
    'parameters-missing',
    'other outcomes',
    { [a]: one(), [b]: one({ status: 'failed', ...later }) },
    ['a-result.json parameters'],
  ],
  [
    'parameters-missing',
    'numbered names',
    { [a]: one({ name: 'logs in [1]' }), [b]: one({ name: 'logs in [2]', ...later }) },
    ['a-result.json parameters'],
  ],
  [
    'volatile-parameter',
    'a UUID',
    { [a]: one({ parameters: [{ name: 'id', value: '7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e' }] }) },
    ['a-result.json parameters[0].value'],
  ],
  [
    'volatile-parameter',
    'an entry of the environment',
    { [a]: one(), 'environment.properties': 'browser=chrome\nbase.url=http://localhost:43211/\n' },
    ['environment.properties base.url'],
  ],
  ['bad-json', 'cut off', { [a]: '{"name": "a", "full' }, ['a-result.json line 1, column 20 (byte 19)']],
  ['bad-json', 'empty', { [a]: '' }, ['a-result.json']],
  ['bad-shape', 'an empty object', { [a]: '{}' }, ['a-result.json']],
  ['bad-shape', 'a list', { [a]: '[]' }, ['a-result.json']],
  ['bad-shape', 'a number', { [a]: '5' }, ['a-result.json']],
  ['bad-shape', 'a number for a text', { [a]: one({ name: 5 as never }) }, ['a-result.json name']],
  [
    'not-utf8',
    'Latin-1',
    { [a]: Buffer.from(JSON.stringify(one({ name: 'caf\u00e9' })), 'latin1') },
    ['a-result.json line 1 (byte 25)'],
  ],
]

describe('lint-results', () => {
  it.each(sound)('says nothing of %s', async (_title, files) => {
    expect(await problemsIn(directoryOf(files))).toEqual([])
  })

  it.each(broken)('%s: %s', async (rule, _title, files, places) => {
    expect(await problemsIn(directoryOf(files))).toEqual(
      places.map((place) => `${resultRules[rule].severity} ${rule} ${place}`.trim()),
    )
  })

  it('files-before-agent: the log of the agent', async () => {
    const directory = directoryOf({ [a]: one() })
    const log = join(
      directoryOf({ 'agent.log': 'All files have been processed: indexed [17], processed [0], errors [17]\n' }),
      'agent.log',
    )
    expect(await problemsIn(directory, { agentLogs: [partOfFile(log)] })).toEqual([
      `error files-before-agent ${log} line 1`,
    ])
  })

  it('volatile-parameter: what two runs have not in common', async () => {
    const [host, goods] = [(value: string) => ({ name: 'host', value }), (value: string) => ({ name: 'goods', value })]
    const previous = directoryOf({
      [a]: one({ parameters: [host('alpha'), goods('apple')] }),
      [b]: one({ parameters: [host('beta'), goods('pear')] }),
      'environment.properties': 'build=1\nbrowser=chrome',
    })
    const now = directoryOf({
      [a]: one({ parameters: [host('gamma'), goods('apple')] }),
      'environment.properties': 'build=2\nbrowser=chrome',
    })
    expect(await problemsIn(now, { previous })).toEqual([
      'warning volatile-parameter a-result.json parameters[0].value',
      'warning volatile-parameter environment.properties build',
    ])
    expect(await problemsIn(now, { previous, changing: ['host', 'build'] })).toEqual([])
  })

  it('has a broken directory for each rule', () => {
    const covered = new Set<RuleId>([...broken.map(([rule]) => rule), 'files-before-agent'])
    expect(ruleIds.filter((rule) => !covered.has(rule))).toEqual([])
  })
})
