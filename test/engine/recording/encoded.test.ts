import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PartialSettings } from '../../../src/core/deployment.ts'
import { AdminError } from '../../../src/core/error.ts'
import { Secret, UnreadableSecret } from '../../../src/core/secret.ts'
import { decode, encode } from '../../../src/engine/recording/encoded.ts'

const hide = (): string => '[secret-1]'
const again = (value: unknown): unknown => decode(JSON.parse(JSON.stringify(encode(value, hide))) as unknown)

describe('what a source returned comes back', () => {
  test.each([
    ['a date', new Date('2026-11-28T02:33:00.123Z')],
    ['no date', new Date(Number.NaN)],
    [
      'a map',
      new Map<string, unknown>([
        ['__proto__', new Date(0)],
        ['a', ['b']],
      ]),
    ],
    ['a map of numbers', new Map([[1, { a: null }]])],
    ['a set', new Set(['a', 'b'])],
    ['numbers without end', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]],
    ['a large number', 12_345_678_901_234_567_890n],
    ['nothing', undefined],
    ['nothing in a list', [undefined, null]],
    ['an object with our mark', { $: 'date', at: 'never' }],
    ['an object with a name like a prototype', JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
  ])('%s', (_, value) => {
    expect(again(value)).toEqual(value)
  })

  test('any plain data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON has no negative zero
        expect(again(value)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('an error, with what it needs to be judged', () => {
    const cause = Object.assign(new TypeError('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const obstacle = { kind: 'refused', host: 'db', port: 5432 } as const
    const error = again(
      new AdminError('UNREACHABLE', 'cannot reach db', ['psql -h db'], { cause, obstacle }),
    ) as AdminError
    expect(error).toBeInstanceOf(AdminError)
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: 'cannot reach db',
      suggestions: ['psql -h db'],
      obstacle,
    })
    expect(error.cause).toMatchObject({ name: 'TypeError', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' })
    expect(again(new AdminError('UNAVAILABLE', 'x', [], { cause: 'a text' }))).toMatchObject({
      cause: { message: 'a text' },
    })
  })

  test('settings that could not all be read', () => {
    const missing = new AdminError('FORBIDDEN', 'no permission to read a secret')
    const settings = again(new PartialSettings([['A', 'b']], missing)) as PartialSettings
    expect(settings).toBeInstanceOf(PartialSettings)
    expect([...settings]).toEqual([['A', 'b']])
    expect(settings.missing).toMatchObject({ code: 'FORBIDDEN' })
  })
})

test('a secret stays one, without its value', () => {
  const given: (string | null)[] = []
  const text = JSON.stringify(
    encode(new Map([['SPRING_DATASOURCE_PASSWORD', new Secret('correct horse 1')]]), (_, name) => {
      given.push(name)
      return '[secret-7]'
    }),
  )
  expect(text).not.toContain('horse')
  expect(given).toEqual(['SPRING_DATASOURCE_PASSWORD'])
  const [secret] = [...(decode(JSON.parse(text)) as Map<string, Secret>).values()]
  expect(secret).toBeInstanceOf(Secret)
  expect(secret!.reveal()).toBe('[secret-7]')
  expect(() => (again(new UnreadableSecret(new AdminError('FORBIDDEN', 'hidden'))) as Secret).reveal()).toThrow(
    'hidden',
  )
})

test('functions are left out, and data without end is refused', () => {
  expect(again({ a: () => 1, b: 2 })).toEqual({ b: 2 })
  const endless: { next?: unknown } = {}
  endless.next = endless
  expect(() => encode(endless, hide)).toThrow('too deep')
})

test.each([
  [{ $: 'constructor' }, 'unknown kind'],
  [{ $: 7 }, 'unknown kind'],
  [{ $: 'date', at: 7 }, 'lacks a text'],
  [{ $: 'map', entries: 7 }, 'lacks a list'],
  [{ $: 'map', entries: [], missing: 'x' }, 'no kind'],
  [{ $: 'refusal', code: 'toString', message: 'x', suggestions: [] }, 'unknown kind'],
  [{ $: 'refusal', code: 'FAILED', message: 'x', suggestions: [7] }, 'lacks a text'],
  [{ $: 'unreadable', why: { $: 'date', at: null } }, 'no kind'],
  [{ $: 'bigint', text: 'x' }, 'BigInt'],
])('%j is refused', (data, why) => {
  expect(() => decode(data)).toThrow(why)
})
