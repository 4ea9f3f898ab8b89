import { describe, expect, it } from 'vitest'
import type { ResultContent } from '../../../src/results/result-file.ts'
import { fileRules } from '../../../src/results/rules/index.ts'
import { begin, result } from './support.ts'

const labels = (...pairs: readonly (readonly [name: string, value: string | null])[]): ResultContent => ({
  labels: pairs.map(([name, value]) => ({ name, value })),
})
const chars = (count: number): string => 'x'.repeat(count)
const attached = (source: string): ResultContent => ({ attachments: [{ name: 'log', source, type: 'text/plain' }] })

/** What each rule says of a result: `RULE PLACE: MESSAGE`. */
function told(content: ResultContent, changing: readonly string[] = []): string[] {
  const names = new Set(changing)
  return fileRules.flatMap((rule) =>
    rule.judge(result(content), names).map(({ place, message }) => `${rule.id}${place ? ` ${place}` : ''}: ${message}`),
  )
}

describe('identifiers', () => {
  it.each<[title: string, content: ResultContent, expected: readonly string[]]>([
    ['a full name alone', {}, []],
    [
      'null for all that is absent',
      { labels: null, links: null, parameters: null, attachments: null, steps: null, titlePath: null },
      [],
    ],
    ['JavaScript', { fullName: null, ...labels(['ALLURE_ID', '123']) }, []],
    ['Java and Kotlin', { fullName: null, ...labels(['AS_ID', '123']) }, []],
    ['Python', { fullName: null, ...labels(['as_id', '123']) }, []],
    ['SPEC.md', { fullName: null, ...labels(['vendor_id', '123']) }, []],
    ['zeros at the beginning', labels(['as_id', '00123']), []],
    ['the greatest', labels(['as_id', '9223372036854775807']), []],
    ['the same one twice', labels(['as_id', '123'], ['ALLURE_ID', '0123']), []],
    ['a label without a value', labels(['as_id', null]), []],
    ['a label that is null', { labels: [null] }, []],
    ['another label', labels(['as_idx', 'x'], ['tag', 'x']), []],
    ['nothing', { fullName: null }, ['no-identifier: the result has no identifier label and no full name']],
    ['an empty full name', { fullName: '' }, ['no-identifier: the result has no identifier label and no full name']],
    [
      'a blank full name',
      { fullName: ' \t' },
      ['no-identifier: the result has no identifier label and a blank full name'],
    ],
    [
      'a label without a value, and no full name',
      { fullName: '', ...labels(['as_id', null]) },
      ['no-identifier: the result has no identifier label and no full name'],
    ],
    [
      'a word',
      labels(['suite', 'a'], ['ALLURE_ID', 'LOGIN-1']),
      [
        'invented-identifier labels[1].value: the label ALLURE_ID is "LOGIN-1", but IDs that the service ' +
          'assigns are positive whole numbers',
      ],
    ],
    [
      'a word, and no full name',
      { fullName: null, ...labels(['as_id', 'x']) },
      [
        'invented-identifier labels[0].value: the label as_id is "x", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'zero',
      labels(['as_id', '0']),
      [
        'invented-identifier labels[0].value: the label as_id is "0", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'below zero',
      labels(['as_id', '-5']),
      [
        'invented-identifier labels[0].value: the label as_id is "-5", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'a sign',
      labels(['as_id', '+5']),
      [
        'invented-identifier labels[0].value: the label as_id is "+5", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'a fraction',
      labels(['as_id', '1.0']),
      [
        'invented-identifier labels[0].value: the label as_id is "1.0", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'a blank',
      labels(['as_id', ' 12']),
      [
        'invented-identifier labels[0].value: the label as_id is " 12", with whitespace around it, but IDs that ' +
          'the service assigns are positive whole numbers',
      ],
    ],
    [
      'an empty one',
      labels(['as_id', '']),
      [
        'invented-identifier labels[0].value: the label as_id is empty, but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
    [
      'digits of another script',
      labels(['as_id', '\u0661\u0662']),
      [
        'invented-identifier labels[0].value: the label as_id is "\u0661\u0662", but IDs that the service ' +
          'assigns are positive whole numbers',
      ],
    ],
    [
      'one too great',
      labels(['as_id', '9223372036854775808']),
      [
        'invented-identifier labels[0].value: the label as_id is "9223372036854775808", but IDs that the ' +
          'service assigns are positive whole numbers',
      ],
    ],
    [
      'two different ones',
      labels(['as_id', '1'], ['ALLURE_ID', '2']),
      ['invented-identifier labels[1].value: the result has 2 different identifiers: as_id 1 and ALLURE_ID 2'],
    ],
    [
      'a good one and another',
      labels(['as_id', '1'], ['as_id', 'x']),
      [
        'invented-identifier labels[1].value: the label as_id is "x", but IDs that the service assigns are ' +
          'positive whole numbers',
      ],
    ],
  ])('%s', (_title, content, expected) => {
    expect(told(content)).toEqual(expected)
  })
})

describe('the length of fields', () => {
  it.each<[title: string, content: ResultContent, expected: readonly string[]]>([
    [
      '255 everywhere',
      {
        name: chars(255),
        fullName: chars(255),
        labels: [{ name: chars(255), value: chars(255) }],
        links: [{ name: chars(255), url: chars(255), type: chars(255) }],
        parameters: [{ name: chars(255), value: chars(255) }],
      },
      [],
    ],
    ['127 emoji and a letter', { name: `${'😀'.repeat(127)}x` }, []],
    [
      '128 emoji, which Java counts as 256',
      { name: '😀'.repeat(128) },
      [`long-field name: \`name\` has 256 characters, but the service keeps only 255: "${'😀'.repeat(19)}…"`],
    ],
    [
      'a letter and an accent are two',
      { name: 'e\u0301'.repeat(128) },
      [`long-field name: \`name\` has 256 characters, but the service keeps only 255: "${'e\u0301'.repeat(19)}e…"`],
    ],
    ['Russian letters are one each', { name: 'ы'.repeat(255) }, []],
    [
      '256 of a name',
      { name: chars(256) },
      [`long-field name: \`name\` has 256 characters, but the service keeps only 255: "${chars(39)}…"`],
    ],
    [
      '256 of a full name',
      { fullName: chars(256) },
      [`long-field fullName: \`fullName\` has 256 characters, but the service keeps only 255: "${chars(39)}…"`],
    ],
    [
      '256 of a label',
      labels(['a', 'b'], ['story', chars(256)]),
      [
        `long-field labels[1].value: \`labels[1].value\` of the label "story" has 256 characters, but the ` +
          `service keeps only 255: "${chars(39)}…"`,
      ],
    ],
    [
      "256 of a label's name",
      labels([chars(256), 'a']),
      [
        `long-field labels[0].name: \`labels[0].name\` has 256 characters, but the service keeps only 255: ` +
          `"${chars(39)}…"`,
      ],
    ],
    [
      'a link',
      { links: [null, { name: chars(256), url: `https://example.com/${chars(2000)}`, type: chars(300) }] },
      [
        `long-field links[1].name: \`links[1].name\` has 256 characters, but the service keeps only 255: ` +
          `"${chars(39)}…"`,
        'long-field links[1].url: `links[1].url` has 2,020 characters, but the service keeps only 255: ' +
          '"https://example.com/xxxxxxxxxxxxxxxxxxx…"',
        `long-field links[1].type: \`links[1].type\` has 300 characters, but the service keeps only 255: ` +
          `"${chars(39)}…"`,
      ],
    ],
    [
      'a parameter',
      { parameters: [{ name: 'text', value: chars(256) }] },
      [
        `long-field parameters[0].value: \`parameters[0].value\` of the parameter "text" has 256 characters, ` +
          `but the service keeps only 255: "${chars(39)}…"`,
      ],
    ],
    [
      'a secret parameter',
      { parameters: [{ name: 'password', value: chars(256) }] },
      [
        'long-field parameters[0].value: `parameters[0].value` of the parameter "password" has 256 characters, ' +
          'but the service keeps only 255',
      ],
    ],
    [
      'a hidden parameter',
      { parameters: [{ name: 'a', value: chars(256), mode: 'hidden' }] },
      [
        'long-field parameters[0].value: `parameters[0].value` of the parameter "a" has 256 characters, but ' +
          'the service keeps only 255',
      ],
    ],
    [
      'what is no field of the test',
      {
        statusDetails: { message: chars(256), trace: chars(256) },
        description: chars(256),
        descriptionHtml: chars(256),
        steps: [{ name: chars(256), parameters: [{ name: chars(256), value: chars(256) }] }],
        attachments: [{ name: chars(256), source: chars(256) }],
      },
      [],
    ],
  ])('%s', (_title, content, expected) => {
    expect(told(content)).toEqual(expected)
  })

  it('says more of the full name, by which results are matched', () => {
    const [found] = fileRules.find(({ id }) => id === 'long-field')!.judge(result({ fullName: chars(256) }), new Set())
    expect(found?.effect).toBe(
      'The service matches results to test cases by the first 255 characters of the full name. Tests whose ' +
        'full names differ only after that can become one test.',
    )
    expect(found?.remedy).toBe(
      'Shorten the names of the test, its class or its folders. Put the details into the description.',
    )
  })
})

describe('sources of attachments', () => {
  it.each<[source: string, expected: string | null]>([
    ['7f9c-attachment.txt', null],
    ['a..b-attachment.txt', null],
    ['name with blanks.txt', null],
    ['', null],
    ['shots/a.png', 'refers to a file in a subdirectory'],
    ['./a.png', 'is given as a path, not as a file name'],
    ['https://example.org/a.png', 'is given as a URL, not as a file name'],
    ['shots\\a.png', 'refers to a file in a subdirectory'],
    ['../a.png', 'refers to a file outside the results directory'],
    ['shots/../../a.png', 'refers to a file outside the results directory'],
    ['/tmp/a.png', 'is given as an absolute path'],
    ['C:\\shots\\a.png', 'is given as an absolute path'],
    ['file:///a.png', 'is given as an absolute path'],
  ])('%s', (source, expected) => {
    expect(told(attached(source))).toEqual(
      expected === null ? [] : [`nested-attachment attachments[0].source: the attachment "${source}" ${expected}`],
    )
  })

  it('are looked for in steps at any depth', () => {
    const deep = { name: 'a', steps: [{}, { steps: [null, attached('b/c')] }] }
    expect(told({ steps: [attached('a.txt'), deep, attached('d/e')] }).map((line) => line.split(':')[0])).toEqual([
      'nested-attachment steps[1].steps[1].steps[1].attachments[0].source',
      'nested-attachment steps[2].attachments[0].source',
    ])
  })
})

describe('parameters that change', () => {
  const id = '7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e'
  it.each<[title: string, content: ResultContent, expected: readonly string[]]>([
    [
      'an id',
      {
        parameters: [
          { name: 'goods', value: 'apple' },
          { name: 'id', value: id },
        ],
      },
      [`volatile-parameter parameters[1].value: the parameter "id" contains a UUID: "${id}"`],
    ],
    ['one that is excluded', { parameters: [{ name: 'id', value: id, excluded: true }] }, []],
    ['one that may change', { parameters: [{ name: 'order', value: id }] }, []],
    ['one without a value, and none', { parameters: [{ name: 'a' }, { name: 'a', value: null }, null] }, []],
    [
      'one without a name',
      { parameters: [{ value: id }] },
      [`volatile-parameter parameters[0].value: the parameter "" contains a UUID: "${id}"`],
    ],
    [
      'a masked one',
      { parameters: [{ name: 'id', value: id, mode: 'masked' }] },
      ['volatile-parameter parameters[0].value: the parameter "id" contains a UUID'],
    ],
    [
      'a secret one',
      { parameters: [{ name: 'sessionToken', value: id }] },
      ['volatile-parameter parameters[0].value: the parameter "sessionToken" contains a UUID'],
    ],
    [
      'the time of the run, by its start',
      { parameters: [{ name: 'n', value: `${begin}` }] },
      [
        'volatile-parameter parameters[0].value: ' +
          `the parameter "n" contains the time of the run as a Unix timestamp: "${begin}"`,
      ],
    ],
    [
      'the time of the run, by its end',
      { start: null, parameters: [{ name: 'n', value: `${begin}` }] },
      [
        'volatile-parameter parameters[0].value: ' +
          `the parameter "n" contains the time of the run as a Unix timestamp: "${begin}"`,
      ],
    ],
    ['a time that cannot be known', { start: null, stop: null, parameters: [{ name: 'n', value: `${begin}` }] }, []],
    ['parameters of steps', { steps: [{ parameters: [{ name: 'id', value: id }] }] }, []],
    [
      'a long one, with a login',
      { parameters: [{ name: 'url', value: `http://anna:word@localhost:43211/${'a/'.repeat(60)}` }] },
      [
        'volatile-parameter parameters[0].value: the parameter "url" contains a port that the system picks ' +
          'at each start: "http://[secret]@localhost:43211/a/a/a/a/a/a/a/a/a/a/a/a/a/a…"',
      ],
    ],
  ])('%s', (_title, content, expected) => {
    expect(told(content, ['order'])).toEqual(expected)
  })
})
