import { describe, expect, it } from 'vitest'
import { lint, result, resultsDirectory, said } from './linted.ts'

const attached = (...sources: string[]): Record<string, unknown> =>
  result({ attachments: sources.map((source) => ({ name: 'a', source, type: 'text/plain' })) })

describe('attachments', () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ['named by a result', { 'a-result.json': attached('x.txt'), 'x.txt': '' }, []],
    [
      'named by a step of a step',
      { 'a-result.json': result({ steps: [{ steps: [{ attachments: [{ source: 'x.txt' }] }] }] }), 'x.txt': '' },
      [],
    ],
    [
      'named by a container',
      {
        'a-result.json': result(),
        'a-container.json': {
          befores: [{ steps: [{ attachments: [{ source: 'x.txt' }] }] }],
          afters: [{ attachments: [{ source: 'y.txt' }] }],
        },
        'x.txt': '',
        'y.txt': '',
      },
      [],
    ],
    [
      'named by the globals',
      { 'a-result.json': result(), 'a-globals.json': { attachments: [{ source: 'x.txt' }] }, 'x.txt': '' },
      [],
    ],
    ['named twice', { 'a-result.json': attached('x.txt', 'x.txt'), 'x.txt': '' }, []],
    [
      'that are not there',
      { 'a-result.json': attached('x.txt', 'y.txt', 'x.txt'), 'y.txt': '' },
      ['missing-attachment a-result.json', 'missing-attachment a-result.json'],
    ],
    [
      'that are not there, of a container',
      { 'a-result.json': result(), 'a-container.json': { afters: [{ attachments: [{ source: 'y.txt' }] }] } },
      ['missing-attachment a-container.json'],
    ],
    [
      'that nobody names',
      { 'a-result.json': result(), 'x.txt': '', 'y-attachment.png': '' },
      ['orphan-attachment x.txt', 'orphan-attachment y-attachment.png'],
    ],
    [
      'that differ in one letter',
      { 'a-result.json': attached('X.txt'), 'x.txt': '' },
      ['missing-attachment a-result.json', 'orphan-attachment x.txt'],
    ],
    [
      'that are results, or files that are there of themselves',
      {
        'a-result.json': attached('a-result.json', 'executor.json'),
        'executor.json': '{}',
        'environment.xml': '',
        '.x': '',
      },
      [],
    ],
    [
      'in a subdirectory, by their name',
      { 'a-result.json': result(), 'sub/deep/x-attachment.txt': '', 'sub/readme.md': '' },
      ['nested-attachment sub/deep/x-attachment.txt'],
    ],
    [
      'in a subdirectory, named without it',
      { 'a-result.json': attached('x.txt'), 'sub/x.txt': '', 'sub/y.txt': '' },
      ['nested-attachment sub/x.txt'],
    ],
    [
      'in a subdirectory, named by their path',
      { 'a-result.json': attached('sub/x-attachment.txt'), 'sub/x-attachment.txt': '' },
      ['nested-attachment a-result.json'],
    ],
    [
      'in a subdirectory, named by a container by their path',
      {
        'a-result.json': result(),
        'a-container.json': { befores: [{ attachments: [{ source: 'sub\\x.txt' }] }] },
        'sub/x.txt': '',
      },
      ['nested-attachment a-container.json'],
    ],
    [
      'in a subdirectory, named by its path and without it',
      { 'a-result.json': attached('sub/x.txt'), 'b-result.json': attached('x.txt'), 'sub/x.txt': '' },
      ['nested-attachment a-result.json', 'nested-attachment sub/x.txt'],
    ],
    [
      'that are directories',
      { 'a-result.json': attached('.', 'sub'), 'sub/y.txt': '' },
      ['missing-attachment a-result.json', 'missing-attachment a-result.json'],
    ],
    [
      'named by a path, and there in the root',
      { 'a-result.json': attached('sub/x.txt'), 'x.txt': '' },
      ['nested-attachment a-result.json'],
    ],
    [
      'in a container that is none',
      {
        'a-result.json': result(),
        'a-container.json': '[1',
        'b-container.json': 'null',
        'c-container.json': '{"befores": 7}',
      },
      [],
    ],
    ['of a directory without results', { 'x.txt': '', 'sub/x-attachment.txt': '' }, ['empty-results']],
  ])('%s', async (_, files, expected) => {
    expect(said(await lint(resultsDirectory(files)))).toEqual(expected)
  })

  it('are counted, also where a rule is off or an error', async () => {
    const folder = resultsDirectory({ 'a-result.json': attached('x.txt', 'z.txt'), 'y.txt': 'four', 'z.txt': '' })
    const { counts, directories } = await lint(folder, {
      severities: new Map([
        ['orphan-attachment', 'error'],
        ['missing-attachment', 'off'],
      ]),
    })
    expect([...counts]).toEqual([['orphan-attachment', { error: 1, warning: 0 }]])
    expect(directories).toEqual([
      { directory: folder, files: 3, results: 1, bytes: JSON.stringify(attached('x.txt', 'z.txt')).length + 4 },
    ])
  })
})
