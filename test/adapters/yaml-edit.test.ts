import fc from 'fast-check'
import { load, YAML11_SCHEMA } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { YamlEditError, editYaml } from '../../src/adapters/yaml/edit.ts'
import { YamlError } from '../../src/adapters/yaml/index.ts'
import { valuesFiles } from './values-files.ts'

const name = ['image', 'imageName']

function edited(text: string, path: readonly string[], to: string | null): string {
  return editYaml(text, [{ path, to }])
}

describe('a text is set', () => {
  const cases: { what: string; text: string; path?: string[]; to?: string; after: string }[] = [
    {
      what: 'in place of a bare one',
      text: 'image:\n  imageName: testops # c\n',
      after: 'image:\n  imageName: x # c\n',
    },
    {
      what: 'in its double quotes',
      text: 'image:\n  imageName: "testops" # c\n',
      after: 'image:\n  imageName: "x" # c\n',
    },
    { what: 'in its single quotes', text: "image: {imageName: 'a', b: 2}", after: "image: {imageName: 'x', b: 2}" },
    {
      what: 'in place of a block',
      text: 'image:\n  imageName: | # c\n    a\n\n\nb: 1\n',
      after: 'image:\n  imageName: x # c\n\n\nb: 1\n',
    },
    {
      what: 'in place of an alias',
      text: 'b: &v a\nimage: {imageName: *v}\n',
      after: 'b: &v a\nimage: {imageName: x}\n',
    },
    { what: 'where nothing stood', text: 'image:\n  imageName:\n', after: 'image:\n  imageName: x\n' },
    {
      what: 'where nothing stood but a comment',
      text: 'image: # c\nb: 1\n',
      after: 'image: # c\n  imageName: x\nb: 1\n',
    },
    {
      what: 'where null stood, with CR LF',
      text: 'image: null # c\r\nb: 1\r\n',
      after: 'image: # c\r\n  imageName: x\r\nb: 1\r\n',
    },
    { what: 'in an empty map', text: 'image: {}\n', after: 'image: {imageName: x}\n' },
    {
      what: 'behind the last key',
      text: 'image:\n    repo: a # c\n\nb: 1',
      after: 'image:\n    repo: a # c\n    imageName: x\n\nb: 1',
    },
    { what: 'without a final newline', text: 'image:\n  r: a', after: 'image:\n  r: a\n  imageName: x' },
    { what: 'before the end of the document', text: 'a: 1\n...\n', after: 'a: 1\nimage:\n  imageName: x\n...\n' },
    { what: 'in an empty file', text: '', after: 'image:\n  imageName: x\n' },
    { what: 'in a file of comments', text: '# c', after: '# c\nimage:\n  imageName: x' },
    { what: 'behind a byte order mark', text: '\ufeffa: 1\n', after: '\ufeffa: 1\nimage:\n  imageName: x\n' },
    {
      what: 'above a merge key',
      text: 'b: &i {imageName: a}\nimage:\n  <<: *i\n',
      after: 'b: &i {imageName: a}\nimage:\n  <<: *i\n  imageName: x\n',
    },
    { what: 'with the indent of the file', text: 'a:\n    b: 1\n', after: 'a:\n    b: 1\nimage:\n    imageName: x\n' },
    { what: 'not at all where it is so', text: "image: {imageName: 'x'}\n", after: "image: {imageName: 'x'}\n" },
  ]
  test.each(cases)('$what', ({ text, path = name, to = 'x', after }) => {
    expect(edited(text, path, to)).toBe(after)
  })

  const texts = [
    'true',
    'yes',
    'No',
    'on',
    '3600',
    '0x1f',
    '52e7',
    '1_000',
    '1:30',
    '2026-01-01',
    '',
    ' a ',
    'a: b',
    '# a',
    'null',
    '~',
    '"',
    "it's",
    'é\n',
    '0527',
    '.5',
    '*a',
    '&a',
    '{{ x }}',
  ]
  test.each(texts)('as the text %j, whatever YAML makes of it bare', (to) => {
    for (const text of ['v: 1\n', "v: 'a'\n", 'v: "a"\n', '{v: a}', 'v: |\n  a\n']) {
      for (const after of [edited(text, ['v'], to), edited(text, ['w', 'v'], to)]) {
        expect([load(after), load(after, { schema: YAML11_SCHEMA })]).toMatchObject(
          Array(2).fill(after.includes('w:') ? { w: { v: to } } : { v: to }),
        )
      }
    }
  })
  test('a build needs no quotes', () => {
    expect(edited('version: 526u03\n', ['version'], '527u01')).toBe('version: 527u01\n')
  })
})

describe('a text is removed', () => {
  const path = ['env', 'open', 'A']
  const cases = [
    { what: 'with its line', text: 'env:\n  open:\n    A: "b" # c\n    B: c\n', after: 'env:\n  open:\n    B: c\n' },
    {
      what: 'as the last of its map',
      text: 'env:\n  open:\n    A: b # c\nd: 1\n',
      after: 'env:\n  open: {} # c\nd: 1\n',
    },
    { what: 'behind others on the line', text: 'env: {open: {B: c, A: b}}', after: 'env: {open: {B: c}}' },
    { what: 'before others on the line', text: 'env: {open: {A: b, B: c}}', after: 'env: {open: {B: c}}' },
    { what: 'not at all where it is not', text: 'env: {open: {B: c}}', after: 'env: {open: {B: c}}' },
  ]
  test.each(cases)('$what', ({ text, after }) => {
    expect(edited(text, path, null)).toBe(after)
  })
})

describe('it is refused', () => {
  const cases = [
    {
      what: 'inside what is used elsewhere',
      text: 'a: 1\nimage: &i\n  imageName: a\nb: *i\n',
      error: 'YamlEditError 3 other parts of the file reuse image.imageName through aliases: *i',
    },
    {
      what: 'behind an alias',
      text: 'b: &i {imageName: a}\nimage: *i\n',
      error: 'YamlEditError 2 image is the alias *i, whose value is also used elsewhere',
    },
    {
      what: 'where a text stands',
      text: 'a: 1\nimage: testops\n',
      error: 'YamlEditError 2 image is a single value, not a map',
    },
    { what: 'where a list stands', text: 'image: [a]\n', error: 'YamlEditError 1 image is a list' },
    {
      what: 'where a map stands',
      text: 'image:\n  imageName: {a: 1}\n',
      error: 'YamlEditError 2 image.imageName is a map',
    },
    { what: 'in a list', text: '- a\n', error: 'YamlEditError 1 the file is a list' },
    { what: 'in a text', text: 'a\n', error: 'YamlEditError 1 the file is a single value, not a map' },
    {
      what: 'with tabs',
      text: 'image:\n\timageName: a\n',
      error: 'YamlError 2 tab characters must not be used in indentation',
    },
    {
      what: 'with a key twice',
      text: 'image:\n  imageName: a\n  imageName: b\n',
      error: 'YamlError 3 the key `imageName` appears twice',
    },
    {
      what: 'with two documents',
      text: 'a: 1\n---\nb: 1\n',
      error: 'YamlError 2 expected a single document in the stream, but found more',
    },
    {
      what: 'with a template',
      text: 'image:\n  imageName: {{ .x }}\n',
      error: 'YamlError 2 expected a key, but found a map or a list (perhaps an unrendered template)',
    },
  ]
  test.each(cases)('$what', ({ text, error }) => {
    expect(failure(() => edited(text, name, 'x'))).toBe(error)
  })
  test('and so is the removal of what a merge brings', () => {
    expect(failure(() => edited('b: &i {A: 1}\nc:\n  <<: *i\n', ['c', 'A'], null))).toBe(
      'YamlEditError 3 other parts of the file reuse c.A through aliases: *i',
    )
  })
})

describe('of generated files', () => {
  test('every byte outside the change stays', () => {
    fc.assert(
      fc.property(valuesFiles, fc.constantFrom('testops-legacy', '527u01', 'true', 'a "b"'), ({ text, path }, to) => {
        const after = edited(text, path, to)
        const [removed, added] = difference(text, after)
        expect(removed).not.toMatch(/#/)
        expect(removed.split('\n').length).toBeLessThanOrEqual(1)
        expect(added).toContain(to.slice(0, 3) === 'a "' ? 'b' : '')
        expect(load(after, { schema: YAML11_SCHEMA })).toEqual(
          withText(load(text, { schema: YAML11_SCHEMA }), path, to),
        )
        expect(edited(after, path, to)).toBe(after)
      }),
      { numRuns: 500 },
    )
  }, 60_000)
})

/** What went and what came between the parts that are the same. */
function difference(before: string, after: string): [string, string] {
  let start = 0
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)]
}

function withText(value: unknown, [key = '', ...rest]: readonly string[], to: string): unknown {
  const map = (value ?? {}) as Record<string, unknown>
  return { ...map, [key]: rest.length === 0 ? to : withText(map[key], rest, to) }
}

function failure(run: () => unknown): string {
  try {
    run()
    return 'none'
  } catch (error) {
    if (!(error instanceof YamlEditError || error instanceof YamlError)) throw error
    return `${error.name} ${String(error.line)} ${error.message}`
  }
}
