import { describe, expect, test } from 'vitest'
import { YamlError, parseYaml } from '../../src/adapters/yaml/index.ts'

const text = `current: prod
deployments:
  prod:
    url: https://testops.example.org
    database:
      - {url: "postgresql://a/b", password: {env: X}}
      -   url: c
    # a comment
    "broker":
      url: amqp://mq
    ? long
    : {value: 1}
    last: &anchor {a: 1}
  other: *anchor
`

describe('parseYaml', () => {
  test('gives plain data', () => {
    const { value } = parseYaml('a: 1\nb: [true, null, "x", 1.5]\nc: |\n  two\n  lines\n')
    expect(value).toEqual({ a: 1, b: [true, null, 'x', 1.5], c: 'two\nlines\n' })
  })

  const places = [
    { path: [], at: '1:1' },
    { path: ['current'], at: '1:1' },
    { path: ['deployments', 'prod'], at: '3:3' },
    { path: ['deployments', 'prod', 'database'], at: '5:5' },
    { path: ['deployments', 'prod', 'database', 0], at: '6:9' },
    { path: ['deployments', 'prod', 'database', 0, 'password', 'env'], at: '6:46' },
    { path: ['deployments', 'prod', 'database', 1, 'url'], at: '7:11' },
    { path: ['deployments', 'prod', 'broker'], at: '9:5' },
    { path: ['deployments', 'prod', 'broker', 'url'], at: '10:7' },
    { path: ['deployments', 'prod', 'last', 'a'], at: '13:20' },
    { path: ['deployments', 'other'], at: '14:3' },
    { path: ['deployments', 'nobody'], at: null },
    { path: ['deployments', 'prod', 'database', 7], at: null },
  ]
  test.each(places)('knows where $path stands', ({ path, at }) => {
    const position = parseYaml(text).positionOf(path)
    expect(position === null ? null : `${position.line}:${position.column}`).toBe(at)
  })

  const broken = [
    { what: 'a duplicate key', yaml: 'a: 1\nb:\n  c: 1\n  c: 2\n', error: '4:3 the key `c` appears twice' },
    {
      what: 'keys that are one to YAML 1.1',
      yaml: 'a:\n  - b\n  - yes: 1\n    no: 2\n    on: 3\n',
      error: '5:5 in YAML 1.1, the key `on` is the same as an earlier key: put the key in quotes',
    },
    {
      what: 'numbers that are one to YAML 1.1',
      yaml: '8: a\n010: b\n',
      error: '2:1 in YAML 1.1, the key `010` is the same as an earlier key: put the key in quotes',
    },
    { what: 'a merge of a text', yaml: 'a: 1\nb:\n  <<: text\n', error: '3:3 `<<` merges something that is not a map' },
    { what: 'a merge of nothing', yaml: 'b:\n  <<:\n  c: 1\n', error: '2:3 `<<` merges something that is not a map' },
    {
      what: 'a merge of a list with a text in it',
      yaml: 'a:\n  <<: [{b: 1}, c]\n',
      error: '2:3 `<<` merges something that is not a map',
    },
    {
      what: 'a merge twice, which YAML 1.1 reads',
      yaml: 'a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n',
      error: '4:3 the key `<<` appears twice',
    },
    {
      what: 'a date as a key',
      yaml: 'a: 1\n2026-11-21: 1\n',
      error: '2:1 YAML 1.1 reads this key as a date: put the key in quotes',
    },
    { what: 'a tag that only YAML 1.1 has', yaml: 'a: !!set {b}\n', error: '1:4 the tag `!!set` is unknown' },
    {
      what: 'a value that only YAML 1.1 takes for its tag',
      yaml: 'a: 1\nb: !!bool yes\n',
      error: '2:4 the value does not fit its tag `!!bool`',
    },
    { what: 'a tag of nobody', yaml: 'a: !vault x\n', error: '1:4 the tag `!vault` is unknown' },
    { what: 'an open list', yaml: 'a: 1\nb: [1,\n', error: '2:7 deficient indentation' },
    { what: 'a tab', yaml: 'a:\n\t- b\n', error: '2:1 tab characters must not be used in indentation' },
    {
      what: 'a second document',
      yaml: '---\na: 1\n---\nb: 2\n',
      error: '3:1 expected a single document in the stream, but found more',
    },
    { what: 'nothing', yaml: '', error: '1:1 expected a document, but the input is empty' },
    {
      what: 'a list as a key',
      yaml: '? [a]\n: 1\n',
      error: '1:3 expected a key, but found a map or a list (perhaps an unrendered template)',
    },
    { what: 'an unknown alias', yaml: 'a: 1\nb: *c\n', error: '2:5 unidentified alias "c"' },
  ]
  test.each(broken)('refuses $what', ({ yaml, error }) => {
    expect(failure(yaml)).toBe(error)
  })

  test('is not led astray by names of prototypes', () => {
    const { value, positionOf } = parseYaml('constructor: 1\n__proto__: {polluted: true}\n')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.keys(value as object)).toContain('constructor')
    expect(positionOf(['toString'])).toBeNull()
  })
})

function failure(yaml: string): string {
  try {
    parseYaml(yaml)
    return 'none'
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return `${error.line}:${error.column} ${error.message}`
  }
}
