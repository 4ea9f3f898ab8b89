import { describe, expect, it } from 'vitest'
import { environmentOf } from '../../src/results/environment.ts'
import { lint, result, resultsDirectory, said } from './linted.ts'

const withValues = (fullName: string, values: Readonly<Record<string, string>>, more = {}): Record<string, unknown> =>
  result({ fullName, parameters: Object.entries(values).map(([name, value]) => ({ name, value, ...more })) })

describe('beside an earlier run', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ['the same values', { a: withValues('t', { p: '1' }) }, { b: withValues('t', { p: '1' }) }, []],
    [
      'another value',
      { a: withValues('t', { p: '1', q: 'x' }) },
      { b: withValues('t', { p: '2', q: 'x' }) },
      ['volatile-parameter b-result.json'],
    ],
    [
      'one value in common',
      { a: withValues('t', { p: '1' }), c: withValues('t', { p: '2' }) },
      { b: withValues('t', { p: '2' }), d: withValues('t', { p: '3' }) },
      [],
    ],
    ['another test', { a: withValues('t', { p: '1' }) }, { b: withValues('u', { p: '2' }) }, []],
    ['another parameter', { a: withValues('t', { p: '1' }) }, { b: withValues('t', { q: '2' }) }, []],
    [
      'one that is excluded',
      { a: withValues('t', { p: '1' }, { excluded: true }) },
      { b: withValues('t', { p: '2' }, { excluded: true }) },
      [],
    ],
    ['one that may change', { a: withValues('t', { clock: '1' }) }, { b: withValues('t', { clock: '2' }) }, []],
    [
      'an earlier run that is damaged',
      { a: withValues('t', { p: '1' }), c: '{', d: '[]' },
      { b: withValues('t', { p: '2' }) },
      ['volatile-parameter b-result.json'],
    ],
  ])('%s', async (_, earlier, now, expected) => {
    const files = (of: Record<string, unknown>): Record<string, unknown> =>
      Object.fromEntries(Object.entries(of).map(([name, content]) => [`${name}-result.json`, content]))
    expect(
      said(
        await lint(resultsDirectory(files(now)), { previous: resultsDirectory(files(earlier)), changing: ['clock'] }),
      ),
    ).toEqual(expected)
  })

  const began = Date.UTC(2026, 10, 22, 12)
  const [uuid, folder, day] = ['3f2504e0-4f89-41d3-9a0c-0305e82c3301', '/tmp/abc/x', '2026-11-22']
  it.each<[string, Record<string, string>, Record<string, string>, string[]]>([
    ['what looks volatile, and was the same', { id: uuid, folder }, { id: uuid, folder }, []],
    [
      'what looks volatile, and was another',
      { folder },
      { folder: '/tmp/def/x' },
      ['volatile-parameter a-result.json'],
    ],
    ['what looks volatile, and was not', { id: uuid }, { folder }, ['volatile-parameter a-result.json']],
    [
      'what looked volatile, and is another that does not',
      { folder },
      { folder: 'shop' },
      ['volatile-parameter a-result.json'],
    ],
    ['the date of two runs of one day', { day }, { day }, ['volatile-parameter a-result.json']],
  ])('%s', async (_, earlier, now, expected) => {
    const [before, after] = [earlier, now].map((values) =>
      resultsDirectory({ 'a-result.json': { ...withValues('t', values), start: began, stop: began + 1 } }),
    )
    expect(said(await lint(after!, { previous: before! }))).toEqual(expected)
  })

  it('of another test the same value says nothing', async () => {
    const [before, after] = ['t', 'u'].map((fullName) =>
      resultsDirectory({ 'a-result.json': withValues(fullName, { id: uuid }) }),
    )
    expect(said(await lint(after!, { previous: before! }))).toEqual(['volatile-parameter a-result.json'])
  })

  it('its values are shown', async () => {
    const [earlier, now] = [
      resultsDirectory({ 'a-result.json': withValues('t', { p: '1' }) }),
      resultsDirectory({ 'a-result.json': withValues('t', { p: '2' }) }),
    ]
    const { problems } = await lint(now, { previous: earlier })
    expect(problems.map(({ place, message, result: test }) => [place, message, test])).toEqual([
      [
        'parameters[0].value',
        'the parameter "p" of "t" differs from the previous run: "1" before, "2" now',
        { name: 'a', fullName: 't', status: 'passed' },
      ],
    ])
  })

  it('with more parameters that changed than are told', async () => {
    const values = (value: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 10_050 }, (_, at) => [`p${at}`, value]))
    const [earlier, now] = ['1', '2'].map((value) =>
      resultsDirectory({ 'a-result.json': withValues('t', values(value)) }),
    )
    const { problems, counts } = await lint(now!, { previous: earlier! })
    expect([problems.length, problems.at(-1)!.place, counts.get('volatile-parameter')]).toEqual([
      10_000,
      'parameters[9999].value',
      { error: 0, warning: 10_050 },
    ])
  })

  it('it has to be there', async () => {
    const folder = resultsDirectory({ 'a-result.json': result() })
    await expect(lint(folder, { previous: `${folder}/none` })).rejects.toMatchObject({ code: 'USAGE' })
  })

  it('entries of the environment that differ', async () => {
    const [earlier, now] = ['one', 'other'].map((value) =>
      resultsDirectory({
        'a-result.json': result(),
        'environment.properties': `stand = ${value}\nbrowser: chrome\nclock=${value}`,
      }),
    )
    const report = await lint(now!, { previous: earlier!, changing: ['clock'] })
    expect(said(report)).toEqual(['volatile-parameter environment.properties'])
    expect(report.problems[0]!.message).toMatch(/stand/)
  })
})

describe('files of the environment', () => {
  it.each<[string, string, [string, string][]]>([
    [
      'environment.properties',
      '\ufeff# remark\n! remark\n\na=1\n b : 2\nc 3\nd\\ e=\\u00e9\\n\nf = g\\\n   h\nempty=\nx\\=y=z\\\\',
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
        ['d e', 'é\n'],
        ['f', 'gh'],
        ['empty', ''],
        ['x=y', 'z\\'],
      ],
    ],
    [
      'environment.xml',
      '<?xml version="1.0"?><environment><parameter><key>a&amp;b</key><value>1 &lt; 2</value></parameter>\n' +
        '<parameter>\n<key>c</key><value><![CDATA[<d>]]></value></parameter>' +
        '<parameter><value>e</value></parameter></environment>',
      [
        ['a&b', '1 < 2'],
        ['c', '<d>'],
      ],
    ],
    ['environment.xml', '<environment><parameter><key>a', []],
  ])('%s', (name, content, expected) => {
    const folder = resultsDirectory({ [name]: content })
    expect([...environmentOf(folder)].map(([file, entries]) => [file, [...entries]])).toEqual([[name, expected]])
  })
})
