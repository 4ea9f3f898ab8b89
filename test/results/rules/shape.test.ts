import { describe, expect, it } from 'vitest'
import { attachmentsOf, shapeFaults } from '../../../src/results/rules/index.ts'
import { result } from './support.ts'

const told = (value: unknown): string[] => shapeFaults(value).map(({ message }) => message)

describe('the shape of a result', () => {
  it.each<[title: string, value: unknown, expected: readonly string[]]>([
    ['a result', result().content, []],
    ['a name alone', { name: 'a' }, []],
    [
      'null everywhere',
      {
        name: null,
        labels: null,
        steps: null,
        statusDetails: null,
        start: null,
        parameters: null,
        links: [null],
        titlePath: [null],
      },
      [],
    ],
    [
      'fields that are not known',
      { name: 'a', retries: 3, labels: [{ name: 'a', value: 'b', x: {} }], statusDetails: { actual: 5 } },
      [],
    ],
    ['null', null, ['the file contains null, but a result must be an object']],
    ['a list', [{ name: 'a' }], ['the file contains a list, but a result must be an object']],
    ['an empty list', [], ['the file contains an empty list, but a result must be an object']],
    ['a number', 5, ['the file contains the number 5, but a result must be an object']],
    ['a text', 'a', ['the file contains the string "a", but a result must be an object']],
    ['nothing', {}, ['the file contains an object without fields']],
    ['a number for a name', { name: 5 }, ['`name` is the number 5, but must be a string']],
    ['a list for a name', { name: [] }, ['`name` is an empty list, but must be a string']],
    ['a text for a time', { start: '2026-11-22' }, ['`start` is the string "2026-11-22", but must be a number']],
    ['an object of labels', { labels: { suite: 'a' } }, ['`labels` is an object, but must be a list of objects']],
    [
      'texts for labels',
      { labels: [{ name: 'a', value: 'b' }, 'c'] },
      ['`labels[1]` is the string "c", but must be an object'],
    ],
    [
      'a number for an identifier',
      { labels: [{ name: 'AS_ID', value: 5 }] },
      ['`labels[0].value` is the number 5, but must be a string'],
    ],
    ['numbers in a path', { titlePath: ['a', 1] }, ['`titlePath[1]` is the number 1, but must be a string']],
    ['a text for a path', { titlePath: 'a' }, ['`titlePath` is the string "a", but must be a list of strings']],
    [
      'flags for parameters',
      { parameters: [{ name: 'a', value: true, excluded: 'yes' }] },
      [
        '`parameters[0].value` is true, but must be a string',
        '`parameters[0].excluded` is the string "yes", but must be true or false',
      ],
    ],
    ['a long text', { steps: 'x'.repeat(300) }, ['`steps` is a string, but must be a list of objects']],
    ['what may be a secret', { start: 'aB3dE6gH9jK2mN5p' }, ['`start` is a string, but must be a number']],
    [
      'a text for details',
      { statusDetails: 'it failed' },
      ['`statusDetails` is the string "it failed", but must be an object'],
    ],
    [
      'a list for a message',
      { statusDetails: { message: ['a'] } },
      ['`statusDetails.message` is a list, but must be a string'],
    ],
    ['links', { links: [{ url: 5 }] }, ['`links[0].url` is the number 5, but must be a string']],
    [
      'attachments',
      { attachments: [{ source: 5 }, 6] },
      [
        '`attachments[1]` is the number 6, but must be an object',
        '`attachments[0].source` is the number 5, but must be a string',
      ],
    ],
    [
      'many, of which the first are told',
      { parameters: [1, 2, 3, 4, 5, 6, 7].map((value) => ({ name: 'a', value })) },
      [1, 2, 3, 4, 5].map((value, at) => `\`parameters[${at}].value\` is the number ${value}, but must be a string`),
    ],
    [
      'a step within steps',
      { steps: [{ steps: [{ name: 'a' }, { stop: 'x' }] }] },
      ['`steps[0].steps[1].stop` is the string "x", but must be a number'],
    ],
    ['an own key __proto__', JSON.parse('{"name":"a","__proto__":{"name":5}}'), []],
    [
      'more than is told',
      { name: 1, uuid: 2, fullName: 3, status: 4, stage: 5, description: 6 },
      [
        '`name` is the number 1, but must be a string',
        '`status` is the number 4, but must be a string',
        '`stage` is the number 5, but must be a string',
        '`description` is the number 6, but must be a string',
        '`uuid` is the number 2, but must be a string',
      ],
    ],
  ])('%s', (_title, value, expected) => {
    expect(told(value)).toEqual(expected)
  })

  it('holds at any depth', () => {
    let deep: object = { name: 5, attachments: [{ source: 'a/b' }] }
    for (let depth = 0; depth < 100_000; depth += 1) deep = { steps: [deep] }
    const [found] = shapeFaults(deep)
    expect(found?.place).toMatch(/^(steps\[0\]\.){11}s….*(steps\[0\]\.)+name$/)
    expect(found?.message).toBe(`\`${found?.place}\` is the number 5, but must be a string`)
    const [{ place, source }] = attachmentsOf(deep) as [{ place: string; source: string }]
    expect([place.length < 250, place.slice(-30), source]).toEqual([true, 'steps[0].attachments[0].source', 'a/b'])
  })
})

describe('attachments', () => {
  it.each<[title: string, value: unknown, expected: readonly string[]]>([
    ['a result without any', { name: 'a', steps: [{}, { attachments: [] }] }, []],
    [
      'a result',
      {
        attachments: [{ source: 'a' }, null, { name: 'b' }, { source: 5 }, { source: '' }],
        steps: [{ attachments: [{ source: 'c' }] }],
      },
      ['attachments[0].source a', 'attachments[4].source ', 'steps[0].attachments[0].source c'],
    ],
    [
      'a container',
      {
        befores: [{ attachments: [{ source: 'a' }], steps: [{ attachments: [{ source: 'b' }] }] }],
        afters: [{}, { attachments: [{ source: 'c' }] }],
      },
      [
        'befores[0].attachments[0].source a',
        'befores[0].steps[0].attachments[0].source b',
        'afters[1].attachments[0].source c',
      ],
    ],
    [
      'values of any shape',
      {
        attachments: 'a',
        steps: [5, 'x', null, [[]], { steps: { a: 1 }, befores: 7 }],
        afters: [[{ attachments: [{ source: 'x' }] }]],
      },
      [],
    ],
    ['null', null, []],
    ['a list', [{ attachments: [{ source: 'a' }] }], []],
    ['a text', 'attachments', []],
  ])('%s', (_title, value, expected) => {
    expect(attachmentsOf(value).map(({ place, source }) => `${place} ${source}`)).toEqual(expected)
  })
})
