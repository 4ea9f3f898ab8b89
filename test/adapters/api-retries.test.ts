import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { retryAfterMs } from '../../src/adapters/api/persistence.ts'
import { openApi } from '../../src/adapters/api/index.ts'
import { html, opened, reply } from './api-answers.ts'
import { apiAt } from './endpoints.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { service } from './service.ts'
import type { PracticeApi, ServiceOptions } from './service.ts'

type Answer = ReturnType<typeof reply> | 'hang up' | null

/** A service that answers one path so, the first times it is asked; null: as ever. The last answer stays. */
async function answering(path: string, answers: readonly Answer[]): Promise<PracticeApi & { asked: () => number }> {
  const instead: ServiceOptions['instead'] = (request, response) => {
    if (request.url?.split('?')[0] !== path) return false
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? null
    if (answer === 'hang up') request.socket.destroy()
    else answer?.(response)
    return answer !== null
  }
  let asked = 0
  return { ...(await service({ instead })), asked: () => asked }
}

const me = '/api/uaa/me'
const exchange = '/api/uaa/oauth/token'
const busy = reply(429, '{"status":429,"error":"Too Many Requests"}', { 'retry-after': '0' })

describe('what is read is read again', () => {
  test.each([
    { what: '502', answers: [reply(502, html), null], asked: 2 },
    { what: '503', answers: [reply(503, '{"status":503}'), reply(503, html), null], asked: 3 },
    { what: '504', answers: [reply(504, ''), null], asked: 2 },
    { what: '429, and the time to wait', answers: [busy, null], asked: 2 },
    { what: 'a connection that breaks', answers: ['hang up', null], asked: 2 },
    {
      what: 'an answer that is cut off',
      answers: [
        (response) => void response.writeHead(200, { 'content-length': '50' }).write('{', () => response.destroy()),
        null,
      ],
      asked: 2,
    },
  ] as { what: string; answers: Answer[]; asked: number }[])('after $what', async ({ answers, asked }) => {
    const it = await answering(me, answers)
    expect(await (await opened(it.url)).currentUser()).toMatchObject({ username: 'admin' })
    expect(it.asked()).toBe(asked)
  })

  test.each([
    { what: 'what is refused', answers: [reply(403, '')], code: 'FORBIDDEN', asked: 1 },
    { what: 'what is broken', answers: [reply(500, '')], code: 'UNEXPECTED_ANSWER', asked: 1 },
    { what: 'what stays so', answers: [reply(503, '{"status":503}')], code: 'UNEXPECTED_ANSWER', asked: 4 },
    { what: 'a proxy that stays without service', answers: [reply(502, html)], code: 'UNREACHABLE', asked: 4 },
    // the first time on a kept connection, which may have been closed before
    { what: 'connections that go on breaking', answers: ['hang up'], code: 'UNREACHABLE', asked: 5 },
  ] as { what: string; answers: Answer[]; code: string; asked: number }[])(
    'but not $what',
    async ({ answers, code, asked }) => {
      const it = await answering(me, answers)
      expect((await errorOf((await opened(it.url)).currentUser()))?.code).toBe(code)
      expect(it.asked()).toBe(asked)
    },
  )

  test('not where nothing listens any more', async () => {
    const { url, server } = await vanishing()
    const source = await opened(url)
    await server()
    expect(await failureOf(source.currentUser())).toMatch(
      /^UNREACHABLE the service at \S+ \(POST\) refused the connection: nothing listens on /,
    )
  })

  test('no later than the time-out: it is said how long to wait', async () => {
    const it = await answering(me, [reply(429, '{"message":"Rate limit exceeded"}', { 'retry-after': '90' })])
    const error = await errorOf((await opened(it.url)).currentUser())
    expect(`${error?.code} ${error?.message}`).toBe(
      `EXHAUSTED GET ${it.url}/api/uaa/me: the service asks testops-admin to wait 90 s ` +
        "(HTTP 429, 'Rate limit exceeded')",
    )
    expect(error?.suggestions).toEqual(['sleep 90   # then run the same command again'])
    expect(it.asked()).toBe(1)
  })
})

describe('the exchange', () => {
  test.each([
    { what: '429', answers: [busy, null], asked: 2, error: null },
    { what: '503', answers: [reply(503, '', { 'retry-after': '0' }), null], asked: 2, error: null },
    {
      what: '502, after which it may have been taken',
      answers: [reply(502, html), null],
      asked: 1,
      error: /^UNREACHABLE /,
    },
    { what: 'the end of a kept connection', answers: ['hang up', null], asked: 2, error: null },
    {
      what: 'connections that break',
      answers: ['hang up'],
      asked: 2,
      error: /^UNREACHABLE the service at \S+\/api\/uaa\/oauth\/token \(POST\) closed the connection$/,
    },
    {
      what: '429 for long',
      answers: [reply(429, '', { 'retry-after': '3600' })],
      asked: 1,
      error: /^EXHAUSTED POST \S+\/api\/uaa\/oauth\/token: the service asks testops-admin to wait 3600 s \(HTTP 429\)$/,
    },
    {
      what: '429 for ever',
      answers: [reply(429, '')],
      asked: 4,
      error: /^EXHAUSTED POST \S+: the service asks testops-admin to make fewer calls \(HTTP 429\)$/,
    },
  ] as { what: string; answers: Answer[]; asked: number; error: RegExp | null }[])(
    'is answered with $what',
    async ({ answers, asked, error }) => {
      const it = await answering(exchange, answers)
      const source = await opened(it.url)
      const failure = await failureOf(source.accessToken())
      if (error === null) expect(failure).toBe(null)
      else expect(failure).toMatch(error)
      expect(it.asked()).toBe(asked)
    },
  )
})

test('what measures is asked once', async () => {
  const it = await answering('/api/management/health', [null, reply(503, '{"status":"DOWN"}')])
  const { source, close } = await openApi(apiAt(it.url), { timeoutMs: 3000 })
  expect(await source.health()).toMatchObject({ httpStatus: 503 })
  expect(it.asked()).toBe(2)
  await close()
})

describe('Retry-After', () => {
  const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
  test.each([
    [{}, null],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after': '-1' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT', date }, 30_000],
    // on the clock of who wrote it, wherever that stands
    [{ 'retry-after': 'Tue, 01 Jan 2019 00:01:00 GMT', date: 'Tue, 01 Jan 2019 00:00:00 GMT' }, 60_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT', date }, 0],
    [{ 'retry-after': 'Tue, 01 Jan 2019 00:01:00 GMT' }, 0],
  ])('%j', (headers, ms) => {
    expect(retryAfterMs({ headers })).toBe(ms)
  })
})

/** Answers once, and is gone. */
async function vanishing(): Promise<{ url: string; server: () => Promise<void> }> {
  const server = createServer((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()))
  onTestFinished(async () => (server.listening ? close() : undefined))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server: close }
}
