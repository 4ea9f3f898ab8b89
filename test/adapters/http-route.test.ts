import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openHttp } from '../../src/adapters/http.ts'
import type { HttpAnswer } from '../../src/adapters/http.ts'
import { failureOf } from './failure-of.ts'
import { closedPort } from './peers.ts'

/** A name that resolves nowhere, so that only a proxy can reach it. */
const far = 'http://service.invalid/base'

beforeEach(() => {
  for (const name of [
    'http_proxy',
    'HTTP_PROXY',
    'https_proxy',
    'HTTPS_PROXY',
    'all_proxy',
    'ALL_PROXY',
    'no_proxy',
    'NO_PROXY',
  ])
    vi.stubEnv(name, '')
})
afterEach(() => vi.unstubAllEnvs())

describe('a proxy that the environment names', () => {
  test('is asked for http with the whole address, and told its password', async () => {
    const { url, seen } = await proxy()
    vi.stubEnv('HTTP_PROXY', url.replace('http://', 'http://porter:open%20sesame@'))
    expect(await ask(far)).toMatchObject({ status: 200, text: 'from the proxy' })
    expect(seen).toEqual([
      { line: 'GET http://service.invalid/base/thing?q=%2F', authorization: `Basic ${btoa('porter:open sesame')}` },
    ])
  })

  test('is asked for a tunnel where the server speaks TLS', async () => {
    const { url, seen } = await proxy()
    vi.stubEnv('https_proxy', url)
    expect(await failureOf(ask(far.replace('http:', 'https:')))).toBe(
      `UNREACHABLE the proxy ${url.replace('http://', '')} refuses to connect to service.invalid:443 (HTTP ` +
        '407: it requires a user name and a password)',
    )
    expect(seen).toEqual([{ line: 'CONNECT service.invalid:443', authorization: undefined }])
  })

  test('is an http proxy where its address names no scheme, as for curl', async () => {
    const { url, seen } = await proxy()
    vi.stubEnv('https_proxy', url.replace('http://', ''))
    expect(await failureOf(ask(far.replace('http:', 'https:')))).toMatch(/^UNREACHABLE the proxy /)
    expect(seen).toEqual([{ line: 'CONNECT service.invalid:443', authorization: undefined }])
  })

  test.each([
    {
      what: 'refuses',
      answer: 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n',
      says: / refuses to connect to service\.invalid:443 \(HTTP 403\)$/,
    },
    {
      what: 'cannot reach it',
      answer: 'HTTP/1.1 502 Bad Gateway\r\n\r\n',
      says: / refuses to connect to service\.invalid:443 \(HTTP 502\)$/,
    },
    {
      what: 'hangs up',
      answer: '',
      says: /^UNEXPECTED_ANSWER .*\(through the proxy 127\.0\.0\.1:\d+\): Proxy connection ended/,
    },
  ])('is to blame where it $what', async ({ answer, says }) => {
    const { url } = await proxy(answer)
    vi.stubEnv('https_proxy', url)
    const error: unknown = await ask(far.replace('http:', 'https:')).catch((thrown: unknown) => thrown)
    expect(await failureOf(Promise.reject(error as Error))).toMatch(says)
    expect(error).toMatchObject({ obstacle: { kind: 'proxy', host: '127.0.0.1', port: Number(new URL(url).port) } })
  })

  test('that wants a password for http says so', async () => {
    const server = createServer((_, response) => response.writeHead(407).end())
    vi.stubEnv('http_proxy', await addressOf(server))
    expect(await failureOf(ask(far))).toMatch(
      /^UNREACHABLE the proxy .* refuses to connect to service\.invalid:80 \(HTTP 407: it requires/,
    )
  })

  test('is passed by for the names in NO_PROXY', async () => {
    const { url, seen } = await proxy()
    vi.stubEnv('HTTP_PROXY', url)
    vi.stubEnv('NO_PROXY', 'other.example.org, .invalid')
    expect(await failureOf(ask(far))).toMatch(/^UNREACHABLE .* the host name service\.invalid does not resolve$/)
    expect(seen).toEqual([])
  })

  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '[::1]'])(
    'is passed by for this machine itself: %s',
    async (host) => {
      const { url, seen } = await proxy()
      vi.stubEnv('ALL_PROXY', url)
      const port = await closedPort()
      expect(await failureOf(ask(`http://${host}:${port}`))).toMatch(
        new RegExp(`^UNREACHABLE .*:${port}/thing (refused|cannot be)`),
      )
      expect(seen).toEqual([])
    },
  )

  test('is named where it cannot be reached, without its password', async () => {
    const port = await closedPort()
    vi.stubEnv('HTTP_PROXY', `http://porter:sesame@127.0.0.1:${port}`)
    expect(await failureOf(ask(far))).toBe(
      `UNREACHABLE the peer at ${far}/thing (through the proxy 127.0.0.1:${port}) refused the connection: ` +
        `nothing listens on 127.0.0.1:${port}`,
    )
  })

  test.each([
    {
      named: 'socks5://porter:sesame@127.0.0.1:1080',
      says: 'the environment sets a socks5 proxy, but only http and https proxies are supported',
    },
    { named: 'http://', says: 'the environment sets a proxy with an invalid address' },
    {
      named: 'http://porter:100%sesame@127.0.0.1:3128',
      says: 'the proxy address in the environment has a stray % in the user name or password. Write this % as %25',
    },
  ])('of another kind is refused: $named', async ({ named, says }) => {
    vi.stubEnv('HTTP_PROXY', named)
    expect(await failureOf(ask(far))).toBe(`CONFIGURATION ${says}`)
  })
})

test('a connection that the server closed in the meantime is opened anew', async () => {
  let connections = 0
  const server = createServer((request, response) => {
    // the answer to the second request on one connection is its end
    if (count(request) > 1) request.socket.destroy()
    else response.end(String(connections))
  })
  server.on('connection', () => (connections += 1))
  const http = await open(await addressOf(server))
  expect((await http.request('/')).text).toBe('1')
  expect((await http.request('/')).text).toBe('2')
  expect(await failureOf(http.request('/', { method: 'POST', form: { a: 'b' } }))).toMatch(
    /^UNREACHABLE .* closed the connection$/,
  )
})

test.each([
  {
    what: 'more headers than are read',
    answer: `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(30_000)}\r\n\r\n`,
    says: /^UNEXPECTED_ANSWER the headers in the answer from the peer at \S+ are too long$/,
  },
  {
    what: 'a body that is cut off',
    answer: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe',
    says: /^UNEXPECTED_ANSWER the answer from the peer at \S+ was cut off after 2 bytes$/,
  },
  {
    what: 'no HTTP',
    answer: 'SSH-2.0-OpenSSH_9.2\r\n',
    says: /^UNEXPECTED_ANSWER the server at 127\.0\.0\.1:\d+ does not speak HTTP$/,
  },
])('$what', async ({ answer, says }) => {
  const server = createServer()
  server.on('connection', (socket) => void socket.on('error', () => undefined).end(answer))
  expect(await failureOf(ask(await addressOf(server)))).toMatch(says)
})

const requests = new WeakMap<object, number>()

function count({ socket }: IncomingMessage): number {
  const number = (requests.get(socket) ?? 0) + 1
  requests.set(socket, number)
  return number
}

async function ask(baseUrl: string): Promise<HttpAnswer> {
  return (await open(baseUrl)).request('/thing?q=%2F')
}

async function open(baseUrl: string): ReturnType<typeof openHttp> {
  const http = await openHttp({
    what: 'the peer',
    baseUrl,
    suggestions: [],
    ca: null,
    verify: true,
    timeoutMs: 3000,
    maxBytes: 1000,
  })
  onTestFinished(async () => http.close())
  return http
}

/** Answers what it is asked by itself, and refuses tunnels. */
async function proxy(
  toConnect = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
): Promise<{ url: string; seen: { line: string; authorization: string | undefined }[] }> {
  const seen: { line: string; authorization: string | undefined }[] = []
  const note = ({ method, url, headers }: IncomingMessage): void => {
    seen.push({ line: `${method} ${url}`, authorization: headers['proxy-authorization'] })
  }
  const server = createServer((request, response) => {
    note(request)
    response.end('from the proxy')
  })
  server.on('connect', (request, socket) => {
    note(request)
    socket.end(toConnect)
  })
  return { url: await addressOf(server), seen }
}

async function addressOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
