import { randomFrom } from '../support/random.ts'

type Random = () => number

/** What a mutator has to know of a kind of input. */
export type Syntax = 'json' | 'yaml' | 'lines'

interface Seeds {
  syntax: Syntax
  seeds: readonly string[]
}

/** what an ordinary text may grow to; one in a while is longer */
const mostLength = 100_000
const longLength = 1_000_000

const tokens: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'prototype',
  'length',
  'then',
  'toJSON',
  'valueOf',
  '0',
  '-0',
  '-1',
  '1e999',
  '-1e999',
  '1e21',
  'NaN',
  'Infinity',
  '.nan',
  '.inf',
  '9007199254740993',
  '99999999999999999999999999',
  '0x7fffffff',
  '0o17',
  '1_000',
  'null',
  '~',
  'true',
  'yes',
  'undefined',
  '""',
  "''",
  '{}',
  '[]',
  '\0',
  '\ud800',
  '\udc00',
  '\ufeff',
  '\u2028',
  '\u202e',
  '\u200f',
  '\u001b[31m',
  '\u001b]0;x\u0007',
  '\u009b2J',
  '\b',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\v',
  '\u0085',
  '\\',
  '\\u0000',
  '\\ud800',
  '\\x00',
  '../../../etc/passwd',
  '/',
  '/dev/null',
  'file:///',
  '$(id)',
  '`id`',
  '${A:-${B}}',
  '%s',
  '%00',
  '%',
  '{{ .Values.x }}',
  '##vso[x]',
  '::error::',
  '2026-11-21',
  '0000-00-00',
  '2026-11-21T02:12:44Z',
  '275760-09-13T00:00:00.001Z',
  '-271821-04-19',
  '99:99:99',
  'ЖЖ',
  '😀',
  'e\u0301',
  '\u{10ffff}',
  '<!DOCTYPE x>',
  '<a',
  ']]>',
  '--',
  '---',
  '...',
  '#',
  ';',
  '=',
  ':',
  ',',
  '"',
  "'",
  '(',
  ')',
  '*',
  '?',
  '|',
  '>',
  '<<: *a',
  '&a',
  '*a',
  '!!binary',
  '!!set',
  '!!js/function',
  '!x',
]

const yamlTokens: readonly string[] = [
  '&a ',
  '*a',
  '<<: *a',
  '<<: [*a, *a]',
  '? a',
  '? [a, b]\n: c',
  '- ',
  ': ',
  '!!str ',
  '!!int 1',
  '!!float .inf',
  '!!timestamp 2026-11-21',
  '!!binary aGk=',
  '!!omap [a: 1]',
  '!!set {a, b}',
  '!<tag:x> ',
  '|\n  a\n',
  '>-\n  a\n',
  '|9\n',
  '%YAML 1.1\n---\n',
  '%TAG ! x\n',
  '---\n',
  '...\n',
  '012',
  '0b1',
  '1:20:30',
  'y',
  'no',
  '2026-11-21 02:12:44',
  '"\\x00"',
  '"\\ud800"',
  '{a: {a: {a: 1}}}',
  '[[[[]]]]',
  '{? : }',
  '\t',
  '@',
  '`',
]

/** An input for a reader: the same for the same seed and number. */
export function inputOf({ syntax, seeds }: Seeds, seed: string, number: number): Buffer {
  const random = randomFrom(`${seed} ${number}`)
  const chosen = pick(random, seeds)
  // documents as they are, too
  const times = random() < 0.02 ? 0 : 1 + below(random, 4)
  const isTree = syntax === 'json' && random() < 0.7
  let text = isTree ? mutatedTree(chosen, random, times) : chosen
  if (!isTree) for (let time = 0; time < times; time += 1) text = mutatedText(text, { syntax, seeds }, random)
  if (random() < 0.004) text = extreme(text, syntax, random)
  const most = random() < 0.002 ? longLength : mostLength
  const bytes = encoded(text.length > most ? text.slice(0, most) : text, random)
  return random() < 0.1 ? mutatedBytes(bytes, random) : bytes
}

function mutatedText(text: string, { syntax, seeds }: Seeds, random: Random): string {
  const at = below(random, text.length + 1)
  const to = Math.min(text.length, at + below(random, random() < 0.2 ? text.length + 1 : 20))
  const lines = (): string[] => text.split('\n')
  switch (below(random, 12)) {
    case 0:
      return text.slice(0, at) + text.slice(to)
    case 1:
      return text.slice(0, to) + text.slice(at)
    case 2:
      return text.slice(0, at) + text.slice(at, to).repeat(1 + below(random, 30)) + text.slice(to)
    case 3:
    case 4:
      return text.slice(0, at) + token(random, syntax) + text.slice(random() < 0.5 ? at : to)
    case 5: {
      const all = lines()
      all.splice(below(random, all.length), 1)
      return all.join('\n')
    }
    case 6: {
      const all = lines()
      all.splice(below(random, all.length + 1), 0, pick(random, all))
      return all.join('\n')
    }
    case 7: {
      const all = lines()
      const line = below(random, all.length)
      all[line] = `${' '.repeat(below(random, 6))}${all[line]!.trimStart()}`
      return all.join('\n')
    }
    case 8: {
      // a word gives way to what it should not be
      const words = [...text.matchAll(/[\w.-]+/g)]
      if (words.length === 0) return token(random, syntax)
      const word = pick(random, words)
      return text.slice(0, word.index) + token(random, syntax) + text.slice(word.index + word[0].length)
    }
    case 9: {
      const other = pick(random, seeds)
      return text.slice(0, at) + other.slice(below(random, other.length))
    }
    case 10:
      return text.replaceAll('\n', pick(random, ['\r\n', '\r', '\n\n', '\u2028', ' ']))
    default: {
      const words = [...text.matchAll(/[\w.-]+/g)]
      if (words.length < 2) return text + token(random, syntax)
      const [one, other] = [pick(random, words), pick(random, words)]
      return text.slice(0, one.index) + other[0] + text.slice(one.index + one[0].length)
    }
  }
}

function mutatedTree(text: string, random: Random, times: number): string {
  const lines = text.split('\n')
  const isLines = lines.length > 1 && lines.every((line) => line === '' || line.startsWith('{'))
  if (!isLines) return changed(text)
  const line = below(random, lines.length)
  return lines.map((it, index) => (index === line || random() < 0.1 ? changed(it) : it)).join('\n')

  function changed(json: string): string {
    let value = parsed(json)
    // some seeds are no JSON
    if (value === undefined) return mutatedText(json, { syntax: 'json', seeds: [json] }, random)
    for (let time = 0; time < times; time += 1) value = mutatedValue(value, random)
    // a number of no type is written as it stands
    return JSON.stringify(value).replaceAll('"<1e999>"', '1e999').replaceAll('"<-1e999>"', '-1e999')
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** One place of a tree, any of them. */
function mutatedValue(value: unknown, random: Random): unknown {
  const isTree = typeof value === 'object' && value !== null
  const entries: [string, unknown][] = isTree ? Object.entries(value) : []
  if (entries.length === 0 || random() < 0.15) return strange(value, random)
  const [key, inner] = pick(random, entries)
  const list: readonly unknown[] | null = Array.isArray(value) ? value : null
  const kind = below(random, 12)
  if (kind === 0)
    return list
      ? list.filter((_, index) => String(index) !== key)
      : Object.fromEntries(entries.filter(([name]) => name !== key))
  if (kind === 1)
    return list
      ? [...list, ...Array.from({ length: 1 + below(random, 5) }, () => inner)]
      : fromPairs([...entries, [token(random, 'json'), inner]])
  if (kind === 2) {
    const [, other] = pick(random, entries)
    return list ? list.map((it, index) => (String(index) === key ? other : it)) : fromPairs([...entries, [key, other]])
  }
  const next = mutatedValue(inner, random)
  return list
    ? list.map((it, index) => (String(index) === key ? next : it))
    : fromPairs(entries.map(([name, it]) => [name, name === key ? next : it]))
}

/** With `__proto__` as a key of its own. */
function fromPairs(entries: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(entries)
}

function strange(value: unknown, random: Random): unknown {
  switch (below(random, 14)) {
    case 0:
      return null
    case 1:
      return pick(random, [0, -1, 1.5, 1e21, -0, 2 ** 53, 4_294_967_296, 1e-7, 8.64e15 + 1])
    case 2:
      return pick(random, ['<1e999>', '<-1e999>'])
    case 3:
      return []
    case 4:
      return {}
    case 5:
      return pick(random, [true, false])
    case 6:
      return [value]
    case 7:
      return fromPairs([[token(random, 'json'), value]])
    case 8:
      return JSON.stringify(value)
    case 9:
      return 'x'.repeat(below(random, 3000))
    case 10:
      return typeof value === 'string'
        ? mutatedText(value, { syntax: 'lines', seeds: [value] }, random)
        : typeof value === 'number'
          ? value + pick(random, [1, -1, 0.5, 1e9])
          : token(random, 'json')
    case 11:
      return typeof value === 'string' ? `${value}${token(random, 'json')}` : [value, value]
    default:
      return token(random, 'json')
  }
}

/** Depths, lengths and doublings at which programs fall over. */
function extreme(text: string, syntax: Syntax, random: Random): string {
  const depth = pick(random, [200, 3000, 20_000, 100_000])
  const long = 'a'.repeat(longLength)
  const within = below(random, text.length + 1)
  const into = (piece: string): string => text.slice(0, within) + piece + text.slice(within)
  const doubled = (): string => {
    const levels = 4 + below(random, 30)
    return [
      'a0: &a0 [x, x]',
      ...Array.from({ length: levels }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`),
    ].join('\n')
  }
  const merged = (): string => {
    const levels = 4 + below(random, 30)
    return [
      'm0: &m0 {k: 1}',
      ...Array.from(
        { length: levels },
        (_, level) => `m${level + 1}: &m${level + 1} {<<: [*m${level}, *m${level}], k${level}: *m${level}}`,
      ),
    ].join('\n')
  }
  const choices: (() => string)[] = [
    () => '',
    () => into('['.repeat(depth)),
    () => into('{"a":'.repeat(depth)),
    () => `${'['.repeat(depth)}${']'.repeat(depth)}`,
    () => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    () => into(long),
    () => into(' '.repeat(longLength)),
    () => into('\n'.repeat(100_000)),
    () => into(`${pick(random, tokens)}`.repeat(20_000)),
    ...(syntax === 'yaml'
      ? [
          () => `${doubled()}\n${text}`,
          () => `${merged()}\n${text}`,
          () => `${text}\n${doubled()}`,
          () => Array.from({ length: 500 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
          () => into('- '.repeat(depth)),
          () => into('? '.repeat(depth)),
          () => into('&a '.repeat(depth)),
          () => into('!a '.repeat(depth)),
        ]
      : []),
  ]
  return pick(random, choices)()
}

function encoded(text: string, random: Random): Buffer {
  const kind = random()
  if (kind < 0.01) return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  if (kind < 0.02) return Buffer.from(`\ufeff${text}`)
  if (kind < 0.03) return Buffer.from(text, 'latin1')
  return Buffer.from(text)
}

function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  for (let time = 1 + below(random, 5); time > 0 && copy.length > 0; time -= 1)
    copy[below(random, copy.length)] = below(random, 256)
  return copy
}

function token(random: Random, syntax: Syntax): string {
  return pick(random, syntax === 'yaml' && random() < 0.5 ? yamlTokens : tokens)
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)]!
}

function below(random: Random, end: number): number {
  return Math.floor(random() * end)
}
