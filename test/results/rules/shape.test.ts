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
    ['null', null, ['the file holds null, and a result is an object']],
    ['a list', [{ name: 'a' }], ['the file holds a list, and a result is an object']],
    ['an empty list', [], ['the file holds an empty list, and a result is an object']],
    ['a number', 5, ['the file holds the number 5, and a result is an object']],
    ['a text', 'a', ['the file holds the text "a", and a result is an object']],
    ['nothing', {}, ['the file holds an object without any field']],
    ['a number for a name', { name: 5 }, ['name is the number 5, where a text belongs']],
    ['a list for a name', { name: [] }, ['name is an empty list, where a text belongs']],
    ['a text for a time', { start: '2026-11-22' }, ['start is the text "2026-11-22", where a number belongs']],
    ['an object of labels', { labels: { suite: 'a' } }, ['labels is an object, where a list of objects belongs']],
    [
      'texts for labels',
      { labels: [{ name: 'a', value: 'b' }, 'c'] },
      ['labels[1] is the text "c", where an object belongs'],
    ],
    [
      'a number for an identifier',
      { labels: [{ name: 'AS_ID', value: 5 }] },
      ['labels[0].value is the number 5, where a text belongs'],
    ],
    ['numbers in a path', { titlePath: ['a', 1] }, ['titlePath[1] is the number 1, where a text belongs']],
    ['a text for a path', { titlePath: 'a' }, ['titlePath is the text "a", where a list of texts belongs']],
    [
      'flags for parameters',
      { parameters: [{ name: 'a', value: true, excluded: 'yes' }] },
      [
        'parameters[0].value is true, where a text belongs',
        'parameters[0].excluded is the text "yes", where true or false belongs',
      ],
    ],
    ['a long text', { steps: 'x'.repeat(300) }, ['steps is a text, where a list of objects belongs']],
    ['what may be a secret', { start: 'aB3dE6gH9jK2mN5p' }, ['start is a text, where a number belongs']],
    [
      'a text for details',
      { statusDetails: 'it failed' },
      ['statusDetails is the text "it failed", where an object belongs'],
    ],
    [
      'a list for a message',
      { statusDetails: { message: ['a'] } },
      ['statusDetails.message is a list, where a text belongs'],
    ],
    ['links', { links: [{ url: 5 }] }, ['links[0].url is the number 5, where a text belongs']],
    [
      'attachments',
      { attachments: [{ source: 5 }, 6] },
      [
        'attachments[1] is the number 6, where an object belongs',
        'attachments[0].source is the number 5, where a text belongs',
      ],
    ],
    [
      'many, of which the first are told',
      { parameters: [1, 2, 3, 4, 5, 6, 7].map((value) => ({ name: 'a', value })) },
      [1, 2, 3, 4, 5].map((value, at) => `parameters[${at}].value is the number ${value}, where a text belongs`),
    ],
    [
      'a step within steps',
      { steps: [{ steps: [{ name: 'a' }, { stop: 'x' }] }] },
      ['steps[0].steps[1].stop is the text "x", where a number belongs'],
    ],
    ['an own key __proto__', JSON.parse('{"name":"a","__proto__":{"name":5}}'), []],
    [
      'more than is told',
      { name: 1, uuid: 2, fullName: 3, status: 4, stage: 5, description: 6 },
      [
        'name is the number 1, where a text belongs',
        'status is the number 4, where a text belongs',
        'stage is the number 5, where a text belongs',
        'description is the number 6, where a text belongs',
        'uuid is the number 2, where a text belongs',
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
    expect(found?.message).toBe(`${found?.place} is the number 5, where a text belongs`)
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
