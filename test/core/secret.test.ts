import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '../../src/core/secret.ts'

describe('what is secret by its form is taken out', () => {
  test.each([
    ['Authorization: Basic Ym9iOmdlaGVpbQ==', 'Authorization: [secret]'],
    ['"authorization":"Token 0a1b2c"', '"authorization":"[secret]"'],
    ['you sent Basic Ym9iOmdlaGVpbTk5', 'you sent Basic [secret]'],
    ['with Bearer abc.def_ghi', 'with Bearer [secret]'],
    ['refused eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2ln twice', 'refused [secret] twice'],
    ['http://bob:p@ss@tracker/x', 'http://[secret]@tracker/x'],
    ['https://0123456789abcdefghij@tracker/x', 'https://[secret]@tracker/x'],
    ['GET https://h/x?access_token=abc&q=1', 'GET https://h/x?access_token=[secret]&q=1'],
    ['PRIVATE-TOKEN: abc', 'PRIVATE-TOKEN: [secret]'],
    ['key glpat-0123456789abcdef', 'key [secret]'],
    ['X-Api-Key: abc', 'X-Api-Key: [secret]'],
    ['Set-Cookie: JSESSIONID=abc; Path=/', 'Set-Cookie: [secret]'],
    [`password='a b' user=bob`, 'password=[secret] user=bob'],
    ['https://hooks.example.org/services/T0000/B0000/abcdefghij0123456789ABCD', 'https://hooks.example.org/services/T0000/B0000/[secret]'],
    ['https://api.example.org/bot123456:abcdefghij0123456789/sendMessage', 'https://api.example.org/[secret]/sendMessage'],
  ])('%s', (text, clean) => {
    expect(withoutSecrets(text)).toBe(clean)
  })

  test.each([
    'Basic authentication is required',
    'invalid_token: it is not known',
    'https://tracker.example.org/rest/api/2/attachment/0b5cbb58-9c1f-4f6e-8d3b-0d5f2f1c8a11',
    'https://testops-7f8c9d6b5-abcde-xyz12:8443/rest/api/2/myself',
    '/usr/lib/jvm/java-17-openjdk-amd64-server/lib/modules cannot be read',
    'jdbc:postgresql://db.example.org:5432/testops?sslmode=prefer',
  ])('left as it is: %s', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })

  test('in megabytes of anything, in no time to speak of', () => {
    for (const part of ['://', 'http://a', 'token ', 'cookie:', 'authorization: a ', 'https://h/a1']) expect(withoutSecrets(part.repeat(100_000)).length).toBeGreaterThan(0)
  })
})
