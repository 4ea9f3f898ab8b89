import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { examineExternalSystem, signInOnce } from '../../src/adapters/external-system/index.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ExternalSystem } from '../../src/core/external-system.ts'
import { Secret } from '../../src/core/secret.ts'
import { basic, certificate, externalSystem, guarded } from '../support/external-system.ts'
import { failureOf } from './failure-of.ts'
import { closedPort, closingPeer, foreignPeer, fullPeer, silentPeer } from './peers.ts'

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

const pem = (name: string): string => readFileSync(certificate(name), 'utf8')
const own = pem('authority')
const login = { scheme: 'basic', user: new Secret('bob'), password: new Secret('s3cret ') } as const

async function examine(url: string, ca: string | null = own, timeoutMs = 3000): Promise<ExternalSystem> {
  return examineExternalSystem(url, { ca, timeoutMs })
}

describe('what is asked without credentials', () => {
  test('goes as far as the answer', async () => {
    const { url, port, asked } = await externalSystem(guarded('x'), 'localhost')
    expect(await examine(`${url}/rest/api/2/myself`)).toMatchObject({
      proxy: null,
      addresses: expect.arrayContaining(['127.0.0.1']) as unknown,
      connection: { to: expect.stringMatching(new RegExp(`:${port}$`)) as unknown },
      tls: {
        protocol: 'TLSv1.3',
        distrust: null,
        isNamed: true,
        chain: [
          { subject: 'localhost', issuer: 'testops-admin test authority', names: ['localhost'], isSelfSigned: false },
        ],
      },
      answer: { status: 401, said: "HTTP 401, 'authentication required'", form: 'json', location: null },
    })
    expect(asked).toEqual([{ line: 'GET /rest/api/2/myself', authorization: undefined }])
  })

  test('tells a page, and where it is sent without the query', async () => {
    const { url } = await externalSystem((_, response) =>
      response
        .writeHead(302, { location: '/login?next=%2Fsecret', 'content-type': 'text/html' })
        .end('<title>Moved</title>'),
    )
    expect((await examine(url)).answer).toMatchObject({ status: 302, form: 'page', location: '/login' })
  })

  test.each([
    ['expired', pem('external-authority'), 'CERT_HAS_EXPIRED', true],
    ['not-yet-valid', pem('external-authority'), 'CERT_NOT_YET_VALID', true],
    ['other-name', pem('external-authority'), 'ERR_TLS_CERT_ALTNAME_INVALID', false],
    ['self-signed', null, 'DEPTH_ZERO_SELF_SIGNED_CERT', true],
    ['localhost', null, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ])('shows the certificate %s, and is answered all the same', async (name, ca, distrust, isNamed) => {
    const { url } = await externalSystem(guarded('x'), name)
    expect(await examine(url, ca)).toMatchObject({ tls: { distrust, isNamed }, answer: { status: 401 } })
  })

  test('ends at a name without an address', async () => {
    expect(await examine('https://tracker.practice.invalid/')).toEqual({
      proxy: null,
      addresses: [],
      connection: null,
      tls: null,
      answer: null,
    })
  })

  test('ends where nothing listens', async () => {
    const { connection, answer } = await examine(`http://127.0.0.1:${await closedPort()}/`)
    expect(connection).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('refused the connection') as unknown,
    })
    expect(answer).toBeNull()
  })

  test('ends in time where nothing accepts', async () => {
    const { connection } = await examine(`http://127.0.0.1:${await fullPeer()}/`, null, 500)
    expect(connection).toMatchObject({ code: 'TIMED_OUT' })
  })

  test.each([
    ['says nothing', silentPeer, 'TIMED_OUT', /did not answer within/],
    ['hangs up', closingPeer, 'UNREACHABLE', /closed the connection/],
    [
      'speaks something else',
      () => foreignPeer('SSH-2.0-OpenSSH_9.2\r\n'),
      'UNEXPECTED_ANSWER',
      /answered in plain text|does not use TLS/,
    ],
  ])('of a server that %s, it is encryption that does not come about', async (_, peer, code, message) => {
    const { tls, answer } = await examine(`https://127.0.0.1:${await peer()}/`, null, 1000)
    expect(tls).toMatchObject({ code, message: expect.stringMatching(message) as unknown })
    expect(answer).toBeNull()
  })

  test.each([
    ['TLSv1.2', { maxVersion: 'TLSv1.2' }],
    ['TLSv1.3', { minVersion: 'TLSv1.3' }],
  ] as const)('tells of a server that requires a client certificate, by %s', async (_, versions) => {
    const { url, asked } = await externalSystem(guarded('x'), 'localhost', {
      requestCert: true,
      rejectUnauthorized: true,
      ...versions,
    })
    const { tls, answer } = await examine(url)
    const failure = answer ?? tls
    expect(failure).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: `the external system at ${url}/ requires a client certificate`,
      obstacle: { kind: 'client-certificate' },
    })
    expect(asked).toEqual([])
  })

  test.each([
    [
      'old TLS alone',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      'supports only TLS versions before 1.2',
    ],
    [
      'ciphers that nobody else has',
      { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA@SECLEVEL=0' },
      'has no cipher in common with testops-admin',
    ],
  ] as const)('tells of a server that speaks %s', async (_, options, said) => {
    const { url } = await externalSystem(guarded('x'), 'localhost', options)
    const { tls, answer } = await examine(url)
    expect(answer).toBeNull()
    expect(tls).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: `the external system at ${url}/ ${said}`,
      obstacle: { kind: 'tls' },
    })
  })

  test.each([
    ['/', '/', true],
    ['/rest', 'SELF/rest', true],
    ['/rest', '/rest?next=1', false],
    ['/rest', '/rest/', false],
    ['/rest', 'http://[', false],
  ])('tells whether %s is sent to itself by %s: %s', async (path, to, isLoop) => {
    const { url } = await externalSystem(
      ({ headers }, response) =>
        response.writeHead(302, { location: to.replace('SELF', `https://${headers.host}`) }).end(),
      'localhost',
    )
    const { answer } = await examine(`${url}${path}`)
    expect(answer).toMatchObject({ isLoop })
  })

  test('goes through the proxy of the environment, which looks the name up', async () => {
    const { port } = await externalSystem(guarded('x'), 'other-name')
    const tunnels: string[] = []
    const proxy = createServer().on('connect', (request, client) => {
      tunnels.push(String(request.url))
      const server = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(server).pipe(client)
      })
      server.on('error', () => client.destroy())
      client.on('error', () => server.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const at = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    vi.stubEnv('https_proxy', `http://${at}`)
    expect(await examine('https://tracker.practice.invalid/rest', pem('external-authority'))).toMatchObject({
      proxy: at,
      addresses: [],
      connection: { to: at },
      tls: { isNamed: false, chain: [{ names: ['tracker.example.org'] }] },
      answer: { status: 401 },
    })
    expect(tunnels).toEqual(['tracker.practice.invalid:443'])
  })
})

describe('the attempt to sign in', () => {
  test('is one, as it was given', async () => {
    const { url, asked } = await externalSystem(guarded(basic('bob', 's3cret ')), 'localhost')
    expect(await signInOnce(`${url}/me`, login, { ca: own, timeoutMs: 3000 })).toMatchObject({ status: 200 })
    expect(asked).toEqual([{ line: 'GET /me', authorization: basic('bob', 's3cret ') }])
  })

  test('takes a token, and does not show it where the answer does', async () => {
    const { url } = await externalSystem(
      ({ headers }, response) => response.writeHead(401).end(`no such ${headers.authorization}`),
      'localhost',
    )
    const answer = await signInOnce(
      url,
      { scheme: 'bearer', token: new Secret('t0ken-value') },
      { ca: own, timeoutMs: 3000 },
    )
    expect(answer.said).toBe("HTTP 401, 'no such Bearer [secret]'")
  })

  test('shows neither password nor header where the answer does', async () => {
    const { url } = await externalSystem(
      ({ headers }, response) => response.writeHead(401).end(`${headers.authorization} is wrong: s3cret `),
      'localhost',
    )
    expect((await signInOnce(url, login, { ca: own, timeoutMs: 3000 })).said).toBe(
      "HTTP 401, 'Basic [secret] is wrong: [secret]'",
    )
  })

  test('follows nobody elsewhere', async () => {
    const other = await externalSystem(guarded('x'))
    const { url } = await externalSystem(
      (_, response) => response.writeHead(307, { location: `${other.url}/` }).end(),
      'localhost',
    )
    expect(await signInOnce(url, login, { ca: own, timeoutMs: 3000 })).toMatchObject({
      status: 307,
      location: `${other.url}/`,
    })
    expect(other.asked).toEqual([])
  })

  test.each(['expired', 'other-name', 'self-signed'])('is not made where the certificate is %s', async (name) => {
    const { url, asked } = await externalSystem(guarded('x'), name)
    expect(await failureOf(signInOnce(url, login, { ca: pem('external-authority'), timeoutMs: 3000 }))).toMatch(
      /^UNREACHABLE the certificate of /,
    )
    expect(asked).toEqual([])
  })

  test('is given up when interrupted', async () => {
    const given = new AbortController()
    const work = signInOnce(`http://127.0.0.1:${await silentPeer()}/`, login, {
      ca: null,
      timeoutMs: 10_000,
      signal: given.signal,
    })
    given.abort(new AdminError('INTERRUPTED', 'interrupted'))
    expect(await failureOf(work)).toBe('INTERRUPTED interrupted')
  })
})
