import { expect, test } from 'vitest'
import { cleaned, withoutSecrets } from '../../../src/core/redaction/index.ts'
import { Secret } from '../../../src/core/secret.ts'
import { randomFrom } from '../../support/random.ts'

const random = randomFrom('known secrets')
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/&%"\\ <>=й'
const made = (length: number): string =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]!).join('')

const secrets = Array.from({ length: 300 }, (_, index) => `x${made(6 + (index % 40))}7!`)

const writings: readonly [string, (secret: string) => string][] = [
  ['as it is', (secret) => secret],
  ['in capitals', (secret) => secret.toUpperCase()],
  ['as JSON', (secret) => JSON.stringify(secret)],
  ['as JSON in JSON', (secret) => JSON.stringify(JSON.stringify(secret))],
  ['in an address', (secret) => encodeURIComponent(secret)],
  ['in an address in an address', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in a form', (secret) => encodeURIComponent(secret).replaceAll('%20', '+')],
  ['as escapes of JavaScript', (secret) => Array.from(secret, escaped).join('')],
  ['in base64', (secret) => Buffer.from(secret).toString('base64')],
  ['in base64 with what stands before', (secret) => Buffer.from(`a:${secret}`).toString('base64')],
  ['in base64 of addresses, between others', (secret) => Buffer.from(`of ${secret} it`).toString('base64url')],
  // of which the small form is longer
  ['in base64 beside a strange letter', (secret) => `İ ${Buffer.from(secret).toString('base64')}`],
]

const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

test.each(writings)('each of 300 is found, written %s', (_, write) => {
  for (const secret of secrets) new Secret(secret)
  const marked = (found: string): string => `«${found.length}»`
  for (const secret of secrets) {
    // with what is like another one on both sides
    const other = secrets[Math.floor(random() * secrets.length)]!
    const [before, after] = [other.slice(0, other.length >> 1), other.slice(other.length >> 1)]
    const text = `${before.slice(0, -1)} ${write(secret)} ${after.slice(1)}`
    const clean = cleaned(text, marked)
    expect([text, clean.includes('«')]).toEqual([text, true])
    expect(withoutSecrets(text)).not.toContain(write(secret))
  }
})

test('a text with parts of them stays as it is', () => {
  for (let number = 1e9; number < 1e9 + 300; number++) {
    const secret = `x${(number * 7919).toString(16)}7!`
    new Secret(secret)
    const near = `${secret.slice(0, -3)} ${secret.slice(3)}`
    expect(withoutSecrets(near)).toBe(near)
    expect(withoutSecrets(`${near} ${secret}`)).toBe(`${near} [secret]`)
  }
})
