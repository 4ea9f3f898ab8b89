import { describe, expect, it, test } from 'vitest'
import { editYaml } from '../../src/adapters/yaml/edit.ts'
import { YamlError, parseYaml } from '../../src/adapters/yaml/index.ts'
import { parsedYaml } from '../../src/adapters/yaml/look.ts'

const letters = [...'abcdefghij']
const doubled = (times: number): string =>
  [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...letters.slice(1).map((it, index) => `${it}: &${it} [${Array(times).fill(`*${letters[index]}`).join(', ')}]`),
  ].join('\n')

function refusalOf(text: string): string {
  try {
    parseYaml(text)
  } catch (error) {
    if (error instanceof YamlError) return `${error.line}: ${error.message}`
    throw error
  }
  return 'none'
}

describe('aliases', () => {
  it.each([
    [
      'stand for nine times what the line above does',
      doubled(9),
      '6: the file has more than 100000 values if its aliases are expanded',
    ],
    [
      'stand inside each other',
      [
        'a0: &a0 [x]',
        ...Array.from({ length: 30_000 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`),
      ].join('\n'),
      '99: the file is more than 100 levels deep if its aliases are expanded',
    ],
    ['stand for what they are in', 'a: &a\n  b: [*a]', '2: the alias *a is inside its own value'],
    [
      'are keys, and stand for much',
      `${doubled(9)}\n? *i\n: 1`,
      '6: the file has more than 100000 values if its aliases are expanded',
    ],
    ['stand for nothing', 'a: *b', '1: unidentified alias "b"'],
    [
      'are merged a hundred times over',
      [
        'a0: &a0 {k: 1}',
        ...Array.from(
          { length: 101 },
          (_, index) => `a${index + 1}: &a${index + 1} {<<: [${Array(9).fill(`*a${index}`).join(', ')}]}`,
        ),
      ].join('\n'),
      /^\d+: the file .* if its aliases are expanded/,
    ],
  ])('that %s are refused with their line', (_, text, said) => {
    expect(refusalOf(text)).toMatch(said)
  })

  it('of a file that somebody wrote are read', () => {
    const text = [
      'base: &base {image: a, env: [b, c]}',
      ...Array.from({ length: 2000 }, (_, index) => `s${index}: *base`),
    ].join('\n')
    expect(refusalOf(text)).toBe('none')
    expect(parsedYaml('a: &a {b: 1}\nc: *a').value).toEqual({ a: { b: 1 }, c: { b: 1 } })
    expect(editYaml('a: &a {b: 1}\nc: *a\nd: x', [{ path: ['d'], to: 'z' }])).toBe('a: &a {b: 1}\nc: *a\nd: z')
  })
})

test('a text that is nested too deep is refused with its line', () => {
  expect(refusalOf(`a:\n  ${'['.repeat(200_000)}`)).toMatch(/^2: nesting exceeded maxDepth/)
})
