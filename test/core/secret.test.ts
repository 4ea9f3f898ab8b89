import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { withoutSecretsIn } from '../../src/core/redaction/document.ts'
import { withoutSecrets } from '../../src/core/redaction/index.ts'
import { isTelling } from '../../src/core/redaction/known.ts'
import { Secret } from '../../src/core/secret.ts'

/** Each way in which a value may come back, around which others write. */
const written: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(JSON.stringify({ a: value })),
  (value) => encodeURIComponent(value),
  (value) => encodeURIComponent(encodeURIComponent(value)),
  (value) => `https://host.example.org/x?q=${encodeURIComponent(value)}&a=1`,
  (value) => encodeURIComponent(JSON.stringify(value)),
  (value) => [...value].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  (value) => `Basic ${Buffer.from(`bob:${value}`).toString('base64')}`,
  (value) => Buffer.from(value).toString('base64'),
  (value) => Buffer.from(`a${value}z`).toString('base64url'),
  (value) => encodeURIComponent(`, ${Buffer.from(value).toString('base64')}`),
  (value) => encodeURIComponent(encodeURIComponent(`, ${Buffer.from(`?${value}`).toString('base64')}`)),
]

/** The inside of the secret in each of these forms, which must be gone. */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  Buffer.from(value).toString('base64').slice(0, -4),
]

const secrets = fc
  .string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 })
  .map((it) => it.trim())
  // what the mask and the words around it hold cannot be told from the secret
  .filter((it) => it.length >= 8 && isTelling(it) && !'[secret]'.includes(it))
  // fast-check likes names such as `toString`, which would then be masked in the texts of all tests after this one
  .filter((it) => !(it in {}))

describe('a secret that this program holds', () => {
  test('never comes out of a text, however it is written', () => {
    fc.assert(
      fc.property(secrets, fc.constantFrom(...written), fc.string(), fc.string(), (value, write, before, after) => {
        const secret = new Secret(value)
        const text = `${before} ${write(secret.reveal())} ${after}`
        const clean = withoutSecrets(text)
        // what others write by chance is no secret of ours
        for (const form of formsOf(value)) if (!`${before}  ${after}`.includes(form)) expect(clean).not.toContain(form)
      }),
      { numRuns: 300 },
    )
  })

  test('nor out of base64 whose last letter an address escapes', () => {
    const secret = new Secret('!       >')
    const once = encodeURIComponent(Buffer.from(secret.reveal()).toString('base64'))
    expect(once).toMatch(/%2B$/)
    expect(withoutSecrets(` ${once} `)).toBe(' [secret] ')
    expect(withoutSecrets(` ${encodeURIComponent(once)} `)).toBe(' [secret] ')
  })

  test('leaves escapes before its base64 whole', () => {
    const secret = new Secret('Hunter2secret')
    const encoded = Buffer.from(`bob:${secret.reveal()}?`).toString('base64')
    const line = (it: string): string => `(password, "${it}")`
    const once = encodeURIComponent(line(encoded))
    expect(withoutSecrets(once)).toBe(encodeURIComponent(line('X')).replace('X', '[secret]'))
    expect(withoutSecrets(encodeURIComponent(once))).toBe(
      encodeURIComponent(encodeURIComponent(line('X'))).replace('X', '[secret]'),
    )
  })

  test('nor out of documents and errors', () => {
    fc.assert(
      fc.property(secrets, fc.constantFrom(...written), (value, write) => {
        new Secret(value)
        const text = `it says: ${write(value)}`
        const document = withoutSecretsIn({
          schemaVersion: 1,
          checks: [{ findings: [{ message: text, evidence: [text] }] }],
          hosts: { [text]: 1 },
          at: new Date(0),
        })
        for (const out of [
          JSON.stringify(document),
          inspect(document, { depth: 9 }),
          new AdminError('FAILED', text).message,
        ])
          for (const form of formsOf(value)) expect(out).not.toContain(form)
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['S3cr3t!x', 'at S3CR3T!X.example.org', 'at [secret].example.org'],
    ['line one 1\nline two 2', 'it is line one 1\\nline two 2!', 'it is [secret]!'],
    ['x"y\\z12345', '{"a":"x\\"y\\\\z12345"}', '{"a":"[secret]"}'],
    ['pa5word', 'it is pa5word; pa5words are others', 'it is [secret]; pa5words are others'],
  ])('%j in %j', (value, text, clean) => {
    new Secret(value)
    expect(withoutSecrets(text)).toBe(clean)
  })

  test.each(['guest', 'testops', 'Administrator', 'CHANGE', '3600', '2026-11-22', 'true', '', 'db.example', 'a1'])(
    'a plain word or number is not looked for: %s',
    (value) => {
      new Secret(value)
      expect(withoutSecrets(`the ${value} is there`)).toBe(`the ${value} is there`)
    },
  )

  test('what may appear may', () => {
    new Secret('mq-17.internal.example.org', { mayAppear: true })
    expect(withoutSecrets('RabbitMQ at mq-17.internal.example.org')).toBe('RabbitMQ at mq-17.internal.example.org')
  })

  test('every usual way to turn it into text gives a mask', () => {
    const secret = new Secret('Hunter2secret')
    expect(
      [
        String(secret),
        JSON.stringify({ secret }),
        inspect({ secret }),
        JSON.stringify(withoutSecretsIn({ secret })),
      ].join(' '),
    ).toBe('[secret] {"secret":"[secret]"} { secret: [secret] } {"secret":"[secret]"}')
  })
})

describe('documents', () => {
  test('what holds no secret is the same', () => {
    const document = {
      a: [1, 'two', { three: null }],
      at: new Date(0),
      verification: { 'api/token': 'skipped' },
      reasons: { 'api/token': 'it is not configured' },
    }
    expect(withoutSecretsIn(document)).toBe(document)
  })

  test('a property tells of its value', () => {
    const document = {
      apiToken: 'abc',
      user: 'bob',
      settings: [
        { name: 'DB_PASSWORD', value: 'geheim' },
        { name: 'TZ', value: 'UTC' },
      ],
      authorization: ['Bearer abc'],
      'password=geheim': 1,
    }
    expect(withoutSecretsIn(document)).toEqual({
      apiToken: '[secret]',
      user: 'bob',
      settings: [
        { name: 'DB_PASSWORD', value: '[secret]' },
        { name: 'TZ', value: 'UTC' },
      ],
      authorization: ['Bearer [secret]'],
      'password=[secret]': 1,
    })
  })
})
