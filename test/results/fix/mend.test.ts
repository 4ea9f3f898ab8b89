import { describe, expect, test } from 'vitest'
import { editedJson, mendedFile } from '../../../src/results/fix/mend.ts'
import type { Mending } from '../../../src/results/fix/mend.ts'

const mending = (): Mending => {
  let made = 0
  return {
    move: (source) =>
      source === 'lost/x.png'
        ? { why: 'the attachment refers to a missing file' }
        : source.includes('/')
          ? { to: source.replace(/^.*\//, '') }
          : null,
    newName: () => `${(made += 1)}-attachment.txt`,
  }
}
const long = 'x'.repeat(256)
const mended = (
  text: string,
  isResult = true,
): { text: string | null; files: string[]; cut: number; left: string[] } => {
  const { bytes, attachments, cut, left } = mendedFile(Buffer.from(text), isResult, mending())
  return {
    text: bytes?.toString() ?? null,
    files: attachments.map((it) => `${it.name} ${it.text.length}`),
    cut,
    left: left.map(({ rule, place }) => `${rule} ${place}`),
  }
}
const whole = (place: string, file = 1): string =>
  `{"name":"${place} (whole)","source":"${file}-attachment.txt","type":"text/plain"}`

describe('sources are changed, and nothing else', () => {
  test.each<[what: string, before: string, after: string | null]>([
    ['nothing to do', '{ "attachments": [{"source": "a.png"}] }', null],
    [
      'of the test',
      '{ "attachments" :[{"source":"s/a.png"}], "x": 1.50 }\n',
      '{ "attachments" :[{"source":"a.png"}], "x": 1.50 }\n',
    ],
    [
      'of a step in a step',
      '{"steps":[{},{"steps":[{"attachments":[{},{"source":"s/a.png"}]}]}]}',
      '{"steps":[{},{"steps":[{"attachments":[{},{"source":"a.png"}]}]}]}',
    ],
    [
      'of fixtures',
      '{"befores":[{"attachments":[{"source":"s/a.png"}]}],"afters":[{"attachments":[{"source":"s/b.png"}]}]}',
      '{"befores":[{"attachments":[{"source":"a.png"}]}],"afters":[{"attachments":[{"source":"b.png"}]}]}',
    ],
    [
      'of keys that stand twice the last',
      '{"attachments":[{"source":"a.png","source":"s/b.png"}]}',
      '{"attachments":[{"source":"a.png","source":"b.png"}]}',
    ],
    [
      'behind a byte order mark',
      '\ufeff{"attachments":[{"source":"s/a.png"}]}',
      '\ufeff{"attachments":[{"source":"a.png"}]}',
    ],
    [
      'with foreign letters around',
      '{"name":"тест 😀","attachments":[{"source":"s/ü.png"}]}',
      '{"name":"тест 😀","attachments":[{"source":"ü.png"}]}',
    ],
    ['no JSON', '{"attachments":[{"source":"s/a.png"}]', null],
    ['no object', '[{"attachments":[{"source":"s/a.png"}]}]', null],
    ['of other types', '{"attachments":[null,1,{"source":7}],"steps":{"attachments":[]}}', null],
  ])('%s', (_, before, after) => {
    expect(mended(before).text).toBe(after)
  })

  test('where it is not known to where, the reason is told', () => {
    expect(mended('{"attachments":[{"source":"lost/x.png"}]}')).toEqual({
      text: null,
      files: [],
      cut: 0,
      left: ['nested-attachment attachments[0].source'],
    })
  })

  test('what is nested too deep stays as it is', () => {
    const text = `{"attachments":[{"source":"s/a.png"}],"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(mended(text)).toEqual({ text: null, files: [], cut: 0, left: ['nested-attachment attachments[0].source'] })
  })

  test('bytes that are no UTF-8 stay as they are', () => {
    expect(
      mendedFile(Buffer.from('{"name":"\xe9","attachments":[{"source":"s/a.png"}]}', 'latin1'), true, mending()).bytes,
    ).toBe(null)
  })
})

describe('long texts', () => {
  test.each<[what: string, before: string, after: string | null, left: string[]]>([
    ['exactly as long as is kept', `{"name":"${'x'.repeat(255)}"}`, null, []],
    ['a name', `{"name":"${long}"}`, `{"attachments":[${whole('name')}],"name":"${'x'.repeat(255)}"}`, []],
    [
      'a name that ends in an emoji',
      `{"name":"${'x'.repeat(254)}😀"}`,
      `{"attachments":[${whole('name')}],"name":"${'x'.repeat(254)}"}`,
      [],
    ],
    [
      'beside attachments',
      `{"name":"${long}","attachments":[ {"source":"a"} ]}`,
      `{"name":"${'x'.repeat(255)}","attachments":[ {"source":"a"},${whole('name')} ]}`,
      [],
    ],
    [
      'beside none',
      `{"name":"${long}","attachments": [ ]}`,
      `{"name":"${'x'.repeat(255)}","attachments": [${whole('name')}]}`,
      [],
    ],
    [
      'beside null',
      `{"name":"${long}","attachments":null}`,
      `{"name":"${'x'.repeat(255)}","attachments":[${whole('name')}]}`,
      [],
    ],
    [
      'a label',
      `{"labels":[{"name":"tag","value":"${long}"}]}`,
      `{"attachments":[${whole('labels[0].value')}],"labels":[{"name":"tag","value":"${'x'.repeat(255)}"}]}`,
      [],
    ],
    [
      'an identifier',
      `{"labels":[{"name":"AS_ID","value":"${long}"}]}`,
      `{"attachments":[${whole('labels[0].value')}],"labels":[{"name":"AS_ID","value":"${long}"}]}`,
      ['long-field labels[0].value'],
    ],
    [
      'a full name',
      `{"fullName":"${long}"}`,
      `{"attachments":[${whole('fullName')}],"fullName":"${long}"}`,
      ['long-field fullName'],
    ],
    [
      'a parameter',
      `{"parameters":[{"name":"p","value":"${long}"}]}`,
      `{"attachments":[${whole('parameters[0].value')}],"parameters":[{"name":"p","value":"${long}"}]}`,
      ['long-field parameters[0].value'],
    ],
    ['a secret', `{"parameters":[{"name":"password","value":"${long}"}]}`, null, ['long-field parameters[0].value']],
    [
      'a masked parameter',
      `{"parameters":[{"name":"p","value":"${long}","mode":"masked"}]}`,
      null,
      ['long-field parameters[0].value'],
    ],
    [
      'a link',
      `{"links":[{"name":"${long}","url":"http://a"}]}`,
      `{"attachments":[${whole('links[0].name')}],"links":[{"name":"${'x'.repeat(255)}","url":"http://a"}]}`,
      [],
    ],
    [
      'an address',
      `{"links":[{"url":"${long}"}]}`,
      `{"attachments":[${whole('links[0].url')}],"links":[{"url":"${long}"}]}`,
      ['long-field links[0].url'],
    ],
    [
      'one that was kept before',
      `{"fullName":"${long}","attachments":[${whole('fullName')}]}`,
      null,
      ['long-field fullName'],
    ],
    ['of what is no result', `{"name":"${long}","labels":"none"}`, null, []],
  ])('%s', (_, before, after, left) => {
    const found = mended(before)
    expect([found.text, found.left]).toEqual([after, left])
  })

  test('are kept whole beside the file', () => {
    expect(mended(`{"name":"${long}","fullName":"${'f'.repeat(300)}"}`)).toMatchObject({
      files: ['1-attachment.txt 256', '2-attachment.txt 300'],
      cut: 1,
    })
  })

  test('of a container stay', () => {
    expect(mended(`{"name":"${long}"}`, false).text).toBe(null)
  })

  test('do not make a result too large to be one', () => {
    const rest = `","fullName":"${long}"}`
    const text = `{"description":"${'d'.repeat(2_000_000 - 16 - rest.length)}${rest}`
    expect(Buffer.byteLength(text)).toBe(2_000_000)
    expect(mended(text)).toMatchObject({ text: null, files: [], left: ['long-field fullName'] })
  })
})

test('a place that leads nowhere changes nothing', () => {
  expect(editedJson('{"a":1}', [{ place: 'b[0].c', value: 'x' }], [])).toBe(null)
})
