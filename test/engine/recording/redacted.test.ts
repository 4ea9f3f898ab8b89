import { describe, expect, test } from 'vitest'
import { Secret, UnreadableSecret } from '../../../src/core/secret.ts'
import { encode } from '../../../src/engine/recording/encoded.ts'
import { redacted, withoutNumbers } from '../../../src/engine/recording/redacted.ts'

const password = 'Wq7-planted-in-a-test'

describe('the same secret has the same number', () => {
  test('in every file, by its value, in an address and by its name', () => {
    const settings = new Map([['SPRING_DATASOURCE_PASSWORD', new Secret(password)]])
    const { files, removed } = redacted([
      { name: 'a.json', json: (hide) => encode(settings, hide) },
      {
        name: 'b.txt',
        text: `first\nconnecting with ${password}\npostgres://u:${encodeURIComponent(password)}@db/x\n`,
      },
      { name: 'c.json', json: () => ({ apiKey: 'zK9-another-secret', said: `it was ${password}` }) },
      { name: 'd.txt', text: 'zK9-another-secret stands here without its name' },
    ])
    const all = files.map(({ text }) => text).join('\n')
    expect(all).not.toContain(password)
    expect(all).not.toContain('another-secret')
    expect(files[1]!.text).toBe('first\nconnecting with [secret-1]\npostgres://[secret-1]@db/x\n')
    expect(files[3]!.text).toBe('[secret-2] stands here without its name')
    expect(removed).toEqual([
      {
        mark: '[secret-1]',
        where: [expect.stringMatching(/^a\.json:\d+$/), 'b.txt:2', 'b.txt:3', 'c.json:3'],
        count: 4,
      },
      { mark: '[secret-2]', where: ['c.json:2', 'd.txt:1'], count: 2 },
    ])
  })

  test('if it has several lines', () => {
    const key = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', '-----END PRIVATE KEY-----'].join(
      '\n',
    )
    const { files } = redacted([{ name: 'a.txt', text: `key:\n${key}\nend\n` }])
    expect(files[0]!.text).toMatch(
      /^key:\n-----BEGIN PRIVATE KEY-----\n(?:\[secret-1\]\n)+-----END PRIVATE KEY-----\nend\n$/,
    )
  })
})

test('a text that looks like a number of ours is not taken for one', () => {
  const { files, removed } = redacted([{ name: 'a.txt', text: 'somebody wrote [secret-1] here' }])
  expect([files[0]!.text, removed]).toEqual(['somebody wrote [secret] here', []])
})

test('a place that was read from among secrets is shown, a value that may be a secret is not', () => {
  const settings = new Map([
    ['SPRING_DATASOURCE_URL', new Secret('jdbc:postgresql://db.example.org:5432/testops', { mayAppear: true })],
    ['SPRING_DATASOURCE_USERNAME', new Secret('testops', { mayAppear: true })],
    ['SPRING_RABBITMQ_URL', new Secret('amqp://u:hunter2!x@mq/', { mayAppear: true })],
    ['VENDOR_LICENSE', new Secret('AbCd-1234-may-be-one', { mayAppear: true })],
  ])
  const [file] = redacted([{ name: 'a.json', json: (hide) => encode(settings, hide) }]).files
  expect(file!.text).toContain('jdbc:postgresql://db.example.org:5432/testops')
  expect(file!.text).toContain('"testops"')
  expect(file!.text).not.toContain('hunter2')
  expect(file!.text).not.toContain('may-be-one')
})

test('printed anew, a number is the mask that stands elsewhere', () => {
  expect(withoutNumbers({ a: ['x [secret-12] y'] })).toEqual({ a: ['x [secret] y'] })
})

test('different secrets have different numbers, also if one begins with the other', () => {
  const settings = new Map([
    ['A_PASSWORD', new Secret('Sommer2025x')],
    ['B_PASSWORD', new Secret('Sommer2025x!')],
    ['C_PASSWORD', new UnreadableSecret(new Error('no permission'))],
  ])
  const [file] = redacted([
    { name: 'a.json', json: (hide) => [...settings].map(([name, it]) => [name, hide(it, name)]) },
  ]).files
  expect(JSON.parse(file!.text)).toEqual([
    ['A_PASSWORD', '[secret-1]'],
    ['B_PASSWORD', '[secret-2]'],
    ['C_PASSWORD', '[unreadable]'],
  ])
})

test('what a plan compares a secret by is no way to guess it', () => {
  const action = { kind: 'set-secret', name: 'X', salt: 'c2FsdA==', from: 'Zmlyc3Q=', to: 'c2Vjb25k' }
  const [file] = redacted([{ name: 'a.json', json: () => ({ steps: [{ action }] }) }]).files
  expect(file!.text).not.toMatch(/c2FsdA|Zmlyc3Q|c2Vjb25k/)
})
