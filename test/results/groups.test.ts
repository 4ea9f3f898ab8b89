import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repeated } from '../../src/results/index/numbers.ts'
import { identityOf } from '../../src/results/identity.ts'
import type { GroupRule } from '../../src/results/rule.ts'
import { lint, result, resultsDirectory, said } from './linted.ts'

/** Finds every group, and says of what it is. */
const every: GroupRule = {
  id: 'name-collision',
  judge: (group) => ({ message: group.map(({ file }) => file).join(' ') }),
}

const parameter = (name: string, value: string, more = {}): unknown => ({ name, value, ...more })

describe('results of one identity', () => {
  const folderOf = (): string =>
    resultsDirectory({
      '1-result.json': result({ fullName: 'a', start: 30 }),
      '2-result.json': result({ fullName: 'a', start: 20 }),
      '3-result.json': result({ fullName: 'a', parameters: [parameter('p', '1'), parameter('q', '2')] }),
      '4-result.json': result({
        fullName: 'a',
        parameters: [parameter('q', '2'), parameter('x', 'y', { excluded: true }), parameter('p', '1')],
      }),
      '5-result.json': result({ fullName: 'b' }),
      '6-result.json': result({ fullName: 'a', start: 10, parameters: [parameter('x', 'z', { excluded: true })] }),
      '7-result.json': result({ fullName: null }),
      '8-result.json': result({ fullName: ' ' }),
      '9-result.json': result({ fullName: 'a', parameters: [parameter('p', '1q'), parameter('q', '2')] }),
    })

  it('are judged together, the earliest first, and shown', async () => {
    const { problems } = await lint(folderOf(), {}, { fileRules: [], groupRules: [every] })
    expect(
      problems.map(({ file, message, together, togetherCount }) => ({
        file,
        message,
        together: together?.map((it) => `${it.file} ${it.fullName} ${it.start}`),
        togetherCount,
      })),
    ).toEqual([
      {
        file: '3-result.json',
        message: '3-result.json 4-result.json',
        together: ['3-result.json a 1000', '4-result.json a 1000'],
        togetherCount: 2,
      },
      {
        file: '6-result.json',
        message: '6-result.json 2-result.json 1-result.json',
        together: ['6-result.json a 10', '2-result.json a 20', '1-result.json a 30'],
        togetherCount: 3,
      },
    ])
  })

  it('are the same ones where all hashes are equal', async () => {
    const folder = folderOf()
    expect((await lint(folder, {}, { fileRules: [], groupRules: [every], hash: () => 7 })).problems).toEqual(
      (await lint(folder, {}, { fileRules: [], groupRules: [every] })).problems,
    )
  })

  it('are of all directories together; one that is given twice is judged once', async () => {
    const [one, other] = [
      resultsDirectory({ 'a-result.json': result({ start: 2 }) }),
      resultsDirectory({ 'b-result.json': result({ start: 1 }) }),
    ]
    const report = await lint([one, join(one, '.'), other, `${other}/`], {}, { groupRules: [every] })
    expect(
      report.problems.map(({ directory, together }) => [directory, together?.map((it) => join(it.directory, it.file))]),
    ).toEqual([[other, [join(other, 'b-result.json'), join(one, 'a-result.json')]]])
  })

  it('are shown in part where there are many', async () => {
    const folder = resultsDirectory(
      Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`${index}-result.json`, result({ start: 100 - index })]),
      ),
    )
    const { problems } = await lint(folder, {}, { groupRules: [every] })
    expect(
      problems.map(({ together, togetherCount }) => [together?.length, together?.[0]?.file, togetherCount]),
    ).toEqual([[20, '29-result.json', 30]])
  })
})

it('a parameter cannot look like two', () => {
  const of = (...parameters: [string, string][]): string | null =>
    identityOf({ fullName: 'a', parameters: parameters.map(([name, value]) => ({ name, value })) })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(word, word), { maxLength: 3 }),
      fc.array(fc.tuple(word, word), { maxLength: 3 }),
      (one, other) => {
        const text = (pairs: [string, string][]): string => JSON.stringify(pairs.map((it) => JSON.stringify(it)).sort())
        expect(of(...one) === of(...other)).toBe(text(one) === text(other))
      },
    ),
    { numRuns: 2000 },
  )
})

const word = fc.string({ unit: fc.constantFrom('a', '=', ':', '1', '\0'), maxLength: 4 })

it('values that stand at several places', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(NaN))), (values) => {
      const places = new Map<number, number[]>()
      values.forEach((value, index) => Number.isNaN(value) || places.set(value, [...(places.get(value) ?? []), index]))
      expect([...repeated(Float64Array.from(values))].map((it) => [...it])).toEqual(
        [...places.values()].filter(({ length }) => length > 1),
      )
    }),
  )
})

it('where all hashes are equal, nothing is found that is not so', async () => {
  const folder = resultsDirectory({
    'a-result.json': result({ attachments: [{ source: 'x.txt' }] }),
    'b-result.json': result({ fullName: 'b' }),
    'x.txt': '',
    'sub/y.txt': '',
  })
  expect(said(await lint(folder, { previous: folder }, { hash: () => 7 }))).toEqual([])
})

it('a time that is no number for us is left out', async () => {
  const text = (name: string): string =>
    JSON.stringify(result({ name, start: 0 })).replace('"start":0', '"start":1e309')
  const { problems } = await lint(resultsDirectory({ 'a-result.json': text('x'), 'b-result.json': text('y') }))
  expect(problems.map(({ together }) => together?.map(({ start }) => start))).toEqual([[undefined, undefined]])
})
