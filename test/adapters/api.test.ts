import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../src/adapters/api/index.ts'
import type { ApiEndpoint } from '../../src/core/endpoint.ts'
import type { ApiSource } from '../../src/core/sources.ts'
import { apiAt } from './endpoints.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { listen } from './peers.ts'
import { apiToken, service } from './service.ts'
import type { ServiceOptions } from './service.ts'

const timeoutMs = 3000

async function opened(baseUrl: string, of: Partial<ApiEndpoint> = {}): Promise<ApiSource> {
  const { source, close } = await openApi(apiAt(baseUrl, of), { timeoutMs })
  onTestFinished(close)
  return source
}

const html =
  '<html>\n<head><title>502 Bad Gateway</title><style>b{}</style></head>\n<body><h1>502 Bad Gateway</h1></body></html>'

function reply(status: number, body: string, headers: Readonly<Record<string, string>> = {}): (response: ServerResponse) => void {
  return (response) => response.writeHead(status, headers).end(body)
}

describe('opening', () => {
  test('a service that is down, and says so, is reachable', async () => {
    const { url } = await service({ health: 'DOWN' })
    expect(await (await opened(url)).health()).toMatchObject({ httpStatus: 503, status: 'DOWN' })
  })

  const answers = [
    { what: 'a Spring error', answer: reply(503, '{"status":503,"error":"Service Unavailable"}'), error: null },
    { what: 'any other page', answer: reply(404, html), error: null },
    { what: 'a redirect', answer: reply(301, '', { location: 'https://elsewhere' }), error: null },
    {
      what: 'a proxy’s error page',
      answer: reply(502, html, { 'content-type': 'text/html' }),
      error:
        /^UNREACHABLE a proxy answers for \S+, and does not reach the service behind it \(HTTP 502, '502 Bad Gateway'\)$/,
    },
    {
      what: 'a proxy’s bare error',
      answer: reply(504, 'upstream request timeout'),
      error: /^UNREACHABLE .* \(HTTP 504, 'upstream request timeout'\)$/,
    },
    {
      what: 'an answer that is far too long',
      answer: reply(200, 'x'.repeat(11_000_000)),
      error: /^UNEXPECTED_ANSWER .* answers with more than 10000000 bytes$/,
    },
  ]
  test.each(answers)('$what', async ({ answer, error }) => {
    const { url } = await service({ instead: (_request, response) => (answer(response), true) })
    const failure = await failureOf(opened(url))
    if (error === null) expect(failure).toBe(null)
    else expect(failure).toMatch(error)
  })

  test('an answer that is cut off', async () => {
    const port = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"status"')),
    )
    expect(await failureOf(opened(`http://127.0.0.1:${port}`))).toMatch(
      /^UNEXPECTED_ANSWER the answer of the service at \S+ was cut off after 9 bytes$/,
    )
  })

  test('an answer that drips for ever', async () => {
    const port = await listen((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n')
        const timer = setInterval(() => socket.write('x'), 50)
        socket.on('close', () => clearInterval(timer))
      })
    })
    const failure = await failureOf(openApi(apiAt(`http://127.0.0.1:${port}`), { timeoutMs: 600 }))
    expect(failure).toMatch(/^TIMED_OUT .* did not answer within 0\.6 s$/)
  })

  test('a base address with a path', async () => {
    const { url, received } = await service({ basePath: '/testops/app' })
    const source = await opened(`${url}/`)
    expect(await source.currentUser()).toMatchObject({ username: 'admin' })
    expect(received.map(({ path }) => path)).toEqual([
      '/testops/app/api/management/health',
      '/testops/app/api/uaa/oauth/token',
      '/testops/app/api/uaa/me',
    ])
  })

  test.each(['testops.example.org', 'ftp://testops.example.org', ''])('no address: "%s"', async (url) => {
    expect(await failureOf(opened(url))).toBe(`CONFIGURATION the address of the service is not an http or https address: ${url}`)
  })
})

describe('TLS', () => {
  const files = new URL('../fixtures/tls/', import.meta.url)
  const pem = (name: string): string => readFileSync(new URL(name, files), 'utf8')
  const secured = async (): Promise<string> => {
    const { url } = await service({
      server: (listener) => createTlsServer({ key: pem('localhost-key.pem'), cert: pem('localhost.pem') }, listener),
    })
    return url.replace('http:', 'https:').replace('127.0.0.1', 'localhost')
  }

  test('with an authority of one’s own', async () => {
    const source = await opened(await secured(), { ca: pem('authority.pem') })
    expect(await source.currentUser()).toMatchObject({ username: 'admin' })
  })

  test('that nobody vouches for', async () => {
    const failure = await errorOf(opened(await secured()))
    expect(`${failure?.code} ${failure?.message}`).toMatch(
      /^UNREACHABLE the certificate of the service at https:\/\/localhost:\d+\S* is not trusted: /,
    )
    expect(failure?.suggestions[0]).toMatch(/^openssl s_client -connect localhost:\d+ -showcerts/)
  })

  test('for another name', async () => {
    const url = (await secured()).replace('localhost', '127.0.0.1')
    const failure = await errorOf(opened(url, { ca: pem('authority.pem') }))
    expect(`${failure?.code} ${failure?.message}`).toMatch(
      /^UNREACHABLE the certificate of the service at https:\S+ is for localhost, not for 127\.0\.0\.1: the address must use a name that it holds$/,
    )
    const port = Number(new URL(url).port)
    expect(failure?.obstacle).toEqual({ kind: 'misnamed', host: '127.0.0.1', port, names: ['localhost'] })
    expect(failure?.suggestions).toEqual([
      `openssl s_client -connect 127.0.0.1:${port} </dev/null | openssl x509 -noout -subject -ext subjectAltName`,
    ])
  })

  test('where plain HTTP is spoken', async () => {
    const { url } = await service()
    expect(await failureOf(opened(url.replace('http:', 'https:')))).toMatch(
      /^UNEXPECTED_ANSWER the service at \S+ does not speak TLS as expected: it answered in plain text$/,
    )
  })
})

describe('the token', () => {
  test('is exchanged once, as SPEC.md says, and the API token goes nowhere else', async () => {
    const { url, received } = await service()
    const source = await opened(url)
    await Promise.all([source.accessToken(), source.currentUser(), source.migrationJobs()])
    await source.currentUser()
    const exchanges = received.filter(({ path }) => path === '/api/uaa/oauth/token')
    expect(exchanges.length).toBe(1)
    expect(exchanges[0]?.headers.accept).toBe('application/json')
    expect(exchanges[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(exchanges[0]?.headers).not.toHaveProperty('expect')
    const others = received.filter(({ path }) => path !== '/api/uaa/oauth/token')
    expect(JSON.stringify(others)).not.toContain(apiToken)
    expect(
      received
        .filter(({ path }) => path === '/api/management/health')
        .every(({ headers }) => headers.authorization === undefined),
    ).toBe(true)
  })

  const refusals = [
    {
      status: 400,
      body: '{"error":"invalid_request","error_description":"Missing grant type"}',
      reason: `HTTP 400, 'invalid_request: Missing grant type'`,
    },
    {
      status: 401,
      body: '{"error":"unauthorized","error_description":"Bad credentials"}',
      reason: `HTTP 401, 'unauthorized: Bad credentials'`,
    },
    { status: 403, body: '', reason: 'HTTP 403' },
    { status: 404, body: 'Bad credentials', reason: `HTTP 404, 'Bad credentials'` },
  ]
  test.each(refusals)('is refused with $status', async ({ status, body, reason }) => {
    const { url } = await service({ instead: instead('/api/uaa/oauth/token', reply(status, body)) })
    const failure = await errorOf((await opened(url)).accessToken())
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `UNAUTHENTICATED ${url}/api/uaa/oauth/token refused the API token, or ${url} is not the service's address (${reason})`,
    )
    expect(JSON.stringify(failure?.suggestions)).not.toContain(apiToken)
  })

  const strange = [
    { what: 'a page', answer: reply(200, '<html><title>Sign in</title></html>'), reason: `HTTP 200, 'Sign in'` },
    { what: 'JSON without a token', answer: reply(200, '{"token_type":"bearer"}'), reason: 'HTTP 200' },
    {
      what: 'a redirect',
      answer: reply(302, '', { location: 'https://sso.example.org/login?state=abc' }),
      reason: 'HTTP 302, to https://sso.example.org/login',
    },
    { what: 'a broken proxy', answer: reply(502, html), reason: `HTTP 502, '502 Bad Gateway'` },
    { what: 'nothing', answer: reply(500, ''), reason: 'HTTP 500' },
    {
      what: "Spring's error",
      answer: reply(500, JSON.stringify({ timestamp: 1, status: 500, error: 'Internal Server Error', message: 'boom', trace: 'at x' })),
      reason: `HTTP 500, 'Internal Server Error: boom'`,
    },
  ]
  test.each(strange)('is answered with $what', async ({ answer, reason }) => {
    const { url, received } = await service({ instead: instead('/api/uaa/oauth/token', answer) })
    expect(await failureOf((await opened(url)).accessToken())).toBe(
      `UNEXPECTED_ANSWER ${url}/api/uaa/oauth/token does not answer as the service's token exchange does (${reason})`,
    )
    expect(received.length).toBe(2)
  })

  const tokens: { what: string; options: ServiceOptions; facts: unknown }[] = [
    {
      what: 'without expires_in',
      options: { expiresIn: null, claims: { iat: 100, exp: 160 } },
      facts: { issuedAt: 100, expiresAt: 160, expiresInSeconds: null },
    },
    {
      what: 'without claims',
      options: { claims: {}, expiresIn: 60 },
      facts: { issuedAt: null, expiresAt: null, expiresInSeconds: 60 },
    },
    {
      what: 'with odd claims',
      options: { claims: { iat: '100', exp: null }, expiresIn: 60 },
      facts: { issuedAt: null, expiresAt: null, expiresInSeconds: 60 },
    },
  ]
  test.each(tokens)('$what', async ({ options, facts }) => {
    expect(await (await opened((await service(options)).url)).accessToken()).toEqual(facts)
  })

  test.each(['ключ', 'two words', 'line\nbreak', ''])('that no header can carry: %j', async (token) => {
    const { url, received } = await service({ instead: instead('/api/uaa/oauth/token', reply(200, JSON.stringify({ access_token: token }))) })
    const failure = await errorOf((await opened(url)).currentUser())
    expect(failure?.code).toBe('UNEXPECTED_ANSWER')
    expect(failure?.message).toBe(
      token === ''
        ? `${url}/api/uaa/oauth/token does not answer as the service's token exchange does (HTTP 200)`
        : `${url}/api/uaa/oauth/token gives an access_token that holds blanks or characters that are no ASCII, which no Bearer token has`,
    )
    expect(received.length).toBe(2)
  })

  test('that is no JWT', async () => {
    const { url } = await service({ instead: instead('/api/uaa/oauth/token', reply(200, '{"access_token":"opaque"}')) })
    expect(await (await opened(url)).accessToken()).toEqual({ issuedAt: null, expiresAt: null, expiresInSeconds: null })
  })

  test('is exchanged anew when it ends', async () => {
    const { url, received } = await service({ tokenLifeSeconds: 1, expiresIn: 0.1 })
    const source = await opened(url)
    await source.currentUser()
    await new Promise((resolve) => setTimeout(resolve, 150))
    await source.currentUser()
    expect(received.filter(({ path }) => path === '/api/uaa/oauth/token').length).toBe(2)
  })

  test('is exchanged anew, once, when it is no longer accepted', async () => {
    const { url, received } = await service({
      instead: instead('/api/uaa/me', reply(401, '{"message":"Full authentication is required"}')),
    })
    expect(await failureOf((await opened(url)).currentUser())).toBe(
      `UNAUTHENTICATED ${url}/api/uaa/me does not accept the Bearer token (HTTP 401, 'Full authentication is required')`,
    )
    expect(received.filter(({ path }) => path === '/api/uaa/oauth/token').length).toBe(2)
  })

  test('that was refused is tried again by the next question', async () => {
    let refuse = true
    const refusing = instead('/api/uaa/oauth/token', reply(401, ''))
    const { url } = await service({ instead: (request, response, body) => refuse && refusing(request, response, body) })
    const source = await opened(url)
    expect(await failureOf(source.accessToken())).toMatch(/^UNAUTHENTICATED /)
    refuse = false
    expect(await failureOf(source.accessToken())).toBe(null)
  })
})

describe('the clock', () => {
  test.each([0, -3_600_000, 90_000])('is off by %d ms', async (offset) => {
    const dated = (response: ServerResponse): void => void response.setHeader('date', new Date(Date.now() + offset).toUTCString())
    const { url } = await service({ instead: (_request, response) => (dated(response), false) })
    const { offsetMs, uncertaintyMs } = await (await opened(url)).clock()
    expect(Math.abs(offsetMs - offset)).toBeLessThanOrEqual(uncertaintyMs)
    expect(uncertaintyMs).toBeLessThan(700)
  })

  test.each(['', 'yesterday'])('is shown as "%s"', async (date) => {
    const { url } = await service({ instead: (_request, response) => (response.setHeader('date', date), false) })
    expect(await failureOf((await opened(url)).clock())).toBe(`UNEXPECTED_ANSWER ${url} sends no readable Date header`)
  })
})

describe('migration jobs', () => {
  const answers = [
    {
      what: 'a bare list',
      body: '[{"id":1,"name":"a","status":"FAILED","createdDate":"2026-11-21T00:00:00Z"}]',
      jobs: [{ id: 1, name: 'a', status: 'FAILED', createdAt: new Date('2026-11-21T00:00:00Z'), modifiedAt: null }],
    },
    {
      what: 'an odd item',
      body: '{"content":[{"createdDate":"soon"}, null, 5]}',
      jobs: [{ id: 0, name: '', status: '', createdAt: null, modifiedAt: null }],
    },
  ]
  test.each(answers)('as $what', async ({ body, jobs }) => {
    const { url } = await service({ instead: instead('/api/migration/job', reply(200, body)) })
    expect(await (await opened(url)).migrationJobs()).toEqual(jobs)
  })

  const failures = [
    {
      what: 'not allowed',
      answer: reply(403, '{"message":"Access is denied"}'),
      error: /^FORBIDDEN \S+\/api\/migration\/job is not allowed for this API token's user \(HTTP 403, 'Access is denied'\)$/,
    },
    {
      what: 'a page',
      answer: reply(200, html),
      error: /^UNEXPECTED_ANSWER \S+\/api\/migration\/job does not answer as the service does \(HTTP 200, '502 Bad Gateway'\)$/,
    },
  ]
  test.each(failures)('$what', async ({ answer, error }) => {
    const { url } = await service({ instead: instead('/api/migration/job', answer) })
    expect(await failureOf((await opened(url)).migrationJobs())).toMatch(error)
  })
})

test('a slow service is asked a few times, and no more', async () => {
  const { url, received } = await service({
    instead(_request, response) {
      setTimeout(() => response.end('{"status":"UP"}'), 700)
      return true
    },
  })
  const times = await (await opened(url)).latencies()
  expect(times.length).toBe(2)
  expect(times.every((time) => time >= 690)).toBe(true)
  expect(received.length).toBe(3)
})

test('speed and clock are told by the same questions, and asked anew the next time', async () => {
  const { url, received } = await service()
  const source = await opened(url)
  const both = async (): Promise<number> => {
    const before = received.length
    const [times, clock] = await Promise.all([source.latencies(), source.clock()])
    expect(times.length).toBe(5)
    expect(Math.abs(clock.offsetMs)).toBeLessThanOrEqual(clock.uncertaintyMs)
    return received.length - before
  }
  expect([await both(), await both()]).toEqual([5, 5])
})

test('without a Date header the speed is known, the clock is not', async () => {
  const { url } = await service({
    instead(_request, response) {
      response.sendDate = false
      response.end('{"status":"UP"}')
      return true
    },
  })
  const source = await opened(url)
  expect((await source.latencies()).length).toBe(5)
  expect(await failureOf(source.clock())).toMatch(/^UNEXPECTED_ANSWER http:\S+ sends no readable Date header$/)
})

test('a service that dies in the middle', async () => {
  let dying = false
  const { url } = await service({ instead: (request) => dying && (request.socket.destroy(), true) })
  const source = await opened(url)
  dying = true
  expect(await failureOf(source.health())).toMatch(/^UNREACHABLE the service at \S+ closed the connection$/)
})

function instead(path: string, answer: (response: ServerResponse) => void): NonNullable<ServiceOptions['instead']> {
  return (request, response) => {
    if (request.url?.split('?')[0] !== path) return false
    answer(response)
    return true
  }
}
