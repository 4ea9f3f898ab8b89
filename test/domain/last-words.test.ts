import { expect, it } from 'vitest'
import { masked } from '../../src/domain/last-words.ts'
import { Secret } from '../../src/core/secret.ts'

it.each([
  ['Authorization: Basic YWRtaW46aHVudGVy, next', 'Authorization: [secret], next'],
  ['{"authorization":"Basic YWRtaW46aHVudGVy","a":1}', '{"authorization":"[secret]","a":1}'],
  ['Authorization: Bearer abc.def HTTP FAILED', 'Authorization: [secret] HTTP FAILED'],
  ['Cookie: ALLURE_TESTOPS_SESSION=abc; XSRF-TOKEN=def HTTP FAILED', 'Cookie: [secret] HTTP FAILED'],
  ['{"Set-Cookie":"JSESSIONID=abc; Path=/; HttpOnly"}', '{"Set-Cookie":"[secret]"}'],
  ['spring:session:sessions:expires:4b2a1c77-aa HTTP FAILED', 'spring:session:sessions:expires:[secret] HTTP FAILED'],
  ['GET /x?api_key=abc&pwd=def X-Api-Key: ghi', 'GET /x?api_key=[secret]&pwd=[secret] X-Api-Key: [secret]'],
  [
    'The expected CSRF token could not be found; Bad credentials',
    'The expected CSRF token could not be found; Bad credentials',
  ],
])('what is secret in %s is hidden', (line, shown) => {
  expect(masked(line, null)).toBe(shown)
})

it.each([
  [
    'pw1',
    'login bob/pw1 refused, pw1x and apw1 not, "pw1"',
    'login bob/[secret] refused, pw1x and apw1 not, "[secret]"',
  ],
  ['a.b$', 'sent a.b$, axb$', 'sent [secret], axb$'],
  ['hunter22', 'xhunter22x', 'x[secret]x'],
  ['admin', 'user admin may not', 'user admin may not'],
  ['5432', 'db.example.org:5432', 'db.example.org:5432'],
])('a setting that is the secret %s is hidden where that leaves a text to be read', (value, line, shown) => {
  expect(masked(line, new Map([['SPRING_RABBITMQ_PASSWORD', new Secret(value)]]))).toBe(shown)
})
