import fc from 'fast-check'

const word = fc.constantFrom(
  'registry',
  'repository',
  'tag',
  'pullPolicy',
  'port',
  'open',
  'host',
  'name',
  'ключ',
  'a-b',
  'x.y',
)
const text = fc.constantFrom(
  'testops',
  '"testops"',
  "'it''s'",
  '526u03',
  '8080',
  'true',
  'yes',
  '~',
  '',
  '"a # b"',
  "'{{ .Values.x }}'",
  '10d',
  '"\\u00e9"',
  '😀',
  '"a: b"',
  '!!str 5',
)
const remark = fc.constantFrom('', '', ' # a remark', '  # image: {imageName: no}', ' #')
const between = fc.constantFrom('', '', '\n', '# a comment\n', '    # one further in\n', '\n\n# two\n\n')
const blockText = fc.constantFrom('|', '>-', '|2', '|+')

/** A block of keys at a depth, with comments, blank lines, lists, blocks of text and maps on one line among them. */
function map(depth: number, step: number, own: readonly string[]): fc.Arbitrary<string> {
  const indent = ' '.repeat(depth * step)
  const scalar = fc.tuple(text, remark).map(([value, end]) => ` ${value}${end}`.trimEnd().replace(/^(?=#)/, ' '))
  const flow = fc.tuple(text, text, remark).map(([a, b, end]) => ` {one: ${inFlow(a)}, two: [${inFlow(b)}]}${end}`)
  const list = fc
    .tuple(text, remark)
    .map(([value, end]) => `${end}\n${indent}- ${value || 'x'}\n${indent}- k: 1\n${indent}  l: 2`)
  const block = blockText.map((sign) =>
    ` ${sign}\n${indent}${' '.repeat(step)}first # no remark\n${indent}${' '.repeat(step)}second: x`.replace(
      '|2',
      `|${String(step)}`,
    ),
  )
  const value = fc.oneof(scalar, scalar, flow, list, block)
  const inner: fc.Arbitrary<string> =
    depth < 2
      ? fc.oneof(
          { weight: 3, arbitrary: value },
          { weight: 2, arbitrary: fc.tuple(remark, map(depth + 1, step, [])).map(([end, it]) => `${end}\n${it}`) },
        )
      : value
  const entry = fc.tuple(between, inner)
  return fc
    .uniqueArray(word, { minLength: 1, maxLength: 4 })
    .chain((keys) =>
      fc.tuple(...[...keys, ...own].map((key) => entry.map(([before, it]) => `${before}${indent}${key}:${it}`))),
    )
    .map((entries) => entries.join('\n'))
}

function inFlow(value: string): string {
  return value === '' ? 'none' : value
}

/** Values files of many layouts, with a path to set that is there as a scalar, or missing at some depth. */
export const valuesFiles: fc.Arbitrary<{ text: string; path: readonly string[] }> = fc
  .record({
    step: fc.constantFrom(2, 4),
    newline: fc.constantFrom('\n', '\r\n'),
    start: fc.constantFrom('', '', '---\n', '# values of testops\n\n', '\ufeff', '%YAML 1.2\n---\n'),
    end: fc.constantFrom('', '\n', '\n\n# the end\n', '\n...\n'),
    image: fc.constantFrom(
      '',
      'image:',
      'image: {}',
      'image: ~',
      'image: {imageName: testops, x: [1]} # c',
      'image: # c\n  # above\n\n  imageName: testops # c\n  tag: "1"',
      "image:\n    tag: 'a'",
      '"image" :\n  "imageName" : "testops"',
      'shared: &shared {imageName: other, pullPolicy: Always}\nimage:\n  <<: *shared',
    ),
    after: fc.boolean(),
    path: fc.constantFrom(['image', 'imageName'], ['version'], ['env', 'open', 'VENDOR_RABBIT_DURABLE']),
  })
  .chain((it) => map(0, it.step, []).map((body) => ({ ...it, body })))
  .map(({ newline, start, end, image, after, path, body }) => {
    const parts = image === '' ? [body] : after ? [body, image] : [image, body]
    return { text: (start + parts.join('\n') + end).replaceAll('\n', newline), path }
  })
