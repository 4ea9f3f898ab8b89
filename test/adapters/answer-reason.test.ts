import { expect, test } from 'vitest'
import { reasonOf } from '../../src/adapters/answer-reason.ts'

const stack = `java.lang.IllegalStateException: boom\n${'\tat org.example.Service.run(Service.java:7)\n'.repeat(60)}`
const spring = (of: object): object => ({
  timestamp: '2026-11-21T04:00:00.123+00:00',
  status: 500,
  error: 'Internal Server Error',
  path: '/api/uaa/me',
  ...of,
})

test.each<[what: string, status: number, body: unknown, said: string]>([
  ["Spring's error", 500, spring({ message: 'boom', trace: stack }), "HTTP 500, 'Internal Server Error: boom'"],
  ["Spring's error without a message", 500, spring({ message: '', trace: stack }), "HTTP 500, 'Internal Server Error'"],
  [
    "Spring's error of older versions",
    500,
    spring({ message: 'No message available' }),
    "HTTP 500, 'Internal Server Error'",
  ],
  [
    'a path that a proxy has changed',
    404,
    spring({ status: 404, error: 'Not Found', message: 'No message available', path: '/uaa/me' }),
    "HTTP 404, 'Not Found /uaa/me'",
  ],
  [
    'a message that says what went wrong, too',
    401,
    { error: 'unauthorized', message: 'Unauthorized: no token' },
    "HTTP 401, 'Unauthorized: no token'",
  ],
  [
    'a stack as the message',
    500,
    spring({ error: undefined, message: stack }),
    "HTTP 500, 'java.lang.IllegalStateException: boom'",
  ],
  [
    "another service's answer as the message",
    500,
    spring({ message: '502 Bad Gateway: "{"timestamp":"2026-11-21T04:00:00Z","status":502}"' }),
    "HTTP 500, 'Internal Server Error: 502 Bad Gateway …'",
  ],
  ['a message that is nothing but JSON', 400, { message: '{"code": 7}' }, 'HTTP 400'],
  [
    "OAuth's error",
    400,
    { error: 'invalid_grant', error_description: 'Bad credentials' },
    "HTTP 400, 'invalid_grant: Bad credentials'",
  ],
  ["OAuth's error without a description", 401, { error: 'invalid_client' }, "HTTP 401, 'invalid_client'"],
  ['RFC 9457', 403, { type: 'about:blank', title: 'Forbidden', detail: 'no role' }, "HTTP 403, 'Forbidden: no role'"],
  [
    "RabbitMQ's error",
    404,
    { error: 'Object Not Found', reason: 'Not Found' },
    "HTTP 404, 'Object Not Found: Not Found'",
  ],
  ['an error of its own form', 403, { error: { code: 403, message: 'quota' } }, "HTTP 403, 'quota'"],
  ['a list of errors', 422, { errors: [{ detail: 'too long' }, { detail: 'too short' }] }, "HTTP 422, 'too long'"],
  ['JSON that says nothing', 500, { timestamp: 1_795_233_600_000, status: 500, trace: stack }, 'HTTP 500'],
  ['a text as JSON', 401, 'no token', "HTTP 401, 'no token'"],
  ['a list', 500, [], 'HTTP 500'],
  ['nothing as JSON', 500, null, 'HTTP 500'],
  ['a long message', 400, { message: 'word '.repeat(60) }, `HTTP 400, '${'word '.repeat(23)}word…'`],
])('%s', (_, status, body, said) => {
  for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)])
    expect(reasonOf({ status, headers: {}, text })).toBe(said)
})

test.each([
  ['JSON that was cut off', '{"timestamp":"2026-11-21T04:00:00Z","status":500,"err', 'HTTP 500'],
  ['a line before JSON', 'upstream said:\n{"timestamp":"2026-11-21T04:00:00Z"}', "HTTP 500, 'upstream said …'"],
  ['a page', '<html><head><title>502 Bad\n Gateway</title></head><body>x</body></html>', "HTTP 500, '502 Bad'"],
  ['a page without a title', '<style>b{}</style><script>x("{")</script>\n<h1>Oops</h1>', "HTTP 500, 'Oops'"],
  ['a line', ' \n[proxy] no healthy upstream\nsecond\n', "HTTP 500, '[proxy] no healthy upstream'"],
  ['nothing', '', 'HTTP 500'],
])('%s', (_, text, said) => {
  expect(reasonOf({ status: 500, headers: {}, text })).toBe(said)
})

test('one and the same error reads the same at any time', () => {
  const at = (timestamp: string): string =>
    reasonOf({
      status: 500,
      headers: {},
      text: JSON.stringify(spring({ timestamp, message: 'boom', trace: `${timestamp} ${stack}` })),
    })
  expect(at('2026-11-21T04:00:00Z')).toBe(at('2026-11-21T04:00:01Z'))
})

test('a redirect says where it leads, without what it hands over', () => {
  const headers = { location: 'https://sso.example.org/login?state=abc' }
  expect(reasonOf({ status: 302, headers, text: '<html></html>' })).toBe(
    'HTTP 302, redirect to https://sso.example.org/login',
  )
})

test.each([
  ['lists', '[', ']'],
  ['errors', '{"error":', '}'],
])('%s within each other to any depth say nothing, and stop nobody', (_, open, close) => {
  const text = `${open.repeat(50_000)}"boom"${close.repeat(50_000)}`
  expect(reasonOf({ status: 500, headers: {}, text })).toBe('HTTP 500')
})
