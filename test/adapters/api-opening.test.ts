import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../src/adapters/api/index.ts'
import { html, opened, reply } from './api-answers.ts'
import { apiAt } from './endpoints.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { listen } from './peers.ts'
import { service } from './service.ts'

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
      error: new RegExp(
        String.raw`^UNREACHABLE a proxy answers GET \S+\/api\/management\/health, ` +
          String.raw`but cannot reach the service behind it \(HTTP 502, '502 Bad Gateway'\)$`,
      ),
    },
    {
      what: 'a proxy’s bare error',
      answer: reply(504, 'upstream request timeout'),
      error: /^UNREACHABLE .* \(HTTP 504, 'upstream request timeout'\)$/,
    },
    {
      what: 'an answer that is far too long',
      answer: reply(200, 'x'.repeat(11_000_000)),
      error: /^UNEXPECTED_ANSWER the answer from .* is too large: more than 10000000 bytes$/,
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
      /^UNEXPECTED_ANSWER the answer from the service at \S+ was cut off after 9 bytes$/,
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
    expect(await failureOf(opened(url))).toBe(
      `CONFIGURATION the address of the service is not an http or https address: ${url}`,
    )
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
      new RegExp(
        String.raw`^UNREACHABLE the certificate of the service at https:\S+ is not for 127\.0\.0\.1, ` +
          'but for localhost: use that name in the address$',
      ),
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
      /^UNEXPECTED_ANSWER the service at \S+ answered in plain text instead of TLS$/,
    )
  })
})
