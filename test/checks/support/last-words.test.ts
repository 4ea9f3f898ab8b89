import { expect, it } from 'vitest'
import { masked } from '../../../src/checks/support/last-words.ts'

it.each([
  ['Authorization: Basic YWRtaW46aHVudGVy, next', 'Authorization: [secret], next'],
  ['{"authorization":"Basic YWRtaW46aHVudGVy","a":1}', '{"authorization":"[secret]","a":1}'],
  ['Authorization: Bearer abc.def HTTP FAILED', 'Authorization: [secret] HTTP FAILED'],
  ['Cookie: ALLURE_TESTOPS_SESSION=abc; XSRF-TOKEN=def HTTP FAILED', 'Cookie: [secret] HTTP FAILED'],
  ['{"Set-Cookie":"JSESSIONID=abc; Path=/; HttpOnly"}', '{"Set-Cookie":"[secret]; HttpOnly"}'],
  ['spring:session:sessions:expires:4b2a1c77-aa HTTP FAILED', 'spring:session:sessions:expires:[secret] HTTP FAILED'],
  ['GET /x?api_key=abc&pwd=def X-Api-Key: ghi', 'GET /x?api_key=[secret]&pwd=[secret] X-Api-Key: [secret]'],
  ['The expected CSRF token could not be found; Bad credentials', 'The expected CSRF token could not be found; Bad credentials'],
])('what is secret in %s is hidden', (line, shown) => {
  expect(masked(line, null)).toBe(shown)
})
