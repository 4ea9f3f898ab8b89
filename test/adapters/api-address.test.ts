import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AdminError } from '../../src/core/error.ts'
import { Secret } from '../../src/core/secret.ts'
import { instead, opened, reply } from './api-answers.ts'
import { errorOf } from './failure-of.ts'
import { apiToken, service } from './service.ts'

const said = (error: AdminError | null): string => `${error?.code} ${error?.message}`

/** Answers everything with a redirect of the same path to another base; and what it was asked. */
async function moved(to: (path: string) => string, status = 301): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(
        `${request.method} ${request.url} ${JSON.stringify(request.headers)} ${Buffer.concat(chunks).toString()}`,
      )
      response.writeHead(status, { location: to(request.url ?? '') }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => void (await new Promise((resolve) => server.close(resolve))))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

describe('an address that redirects', () => {
  test('to https says what to write', async () => {
    const { url, seen } = await moved((path) => `https://127.0.0.1:${port()}${path}`)
    const port = (): string => new URL(url).port
    const error = await errorOf(opened(url))
    expect(said(error)).toBe(
      `UNEXPECTED_ANSWER GET ${url}/api/management/health redirects to another protocol, ` +
        `https://127.0.0.1:${port()}/api/management/health (HTTP 301). The redirect was not followed, to protect ` +
        'the token',
    )
    expect(error?.suggestions).toEqual([
      `url: https://127.0.0.1:${port()}   # set this in the configuration, if the service is at this address`,
    ])
    expect(seen.length).toBe(1)
    expect(seen.join()).not.toContain(apiToken)
  })

  test('to another host is not followed, whatever that answers', async () => {
    const other = await service()
    const { url, seen } = await moved((path) => `${other.url}${path}`, 307)
    const error = await errorOf(opened(url))
    expect(said(error)).toMatch(
      new RegExp(
        String.raw`^UNEXPECTED_ANSWER GET \S+ redirects to another host, ` +
          String.raw`http:\S+\/api\/management\/health \(HTTP 307\)\. The redirect was not followed`,
      ),
    )
    expect(error?.suggestions).toEqual([
      `url: ${other.url}   # set this in the configuration, if the service is at this address`,
    ])
    expect(other.received).toEqual([])
    expect(seen.length).toBe(1)
  })

  test('to another base, below', async () => {
    const { url } = await moved((path) => `/testops${path}?lang=en`)
    const error = await errorOf(opened(url))
    expect(said(error)).toMatch(/^UNEXPECTED_ANSWER GET \S+ redirects to another address, /)
    expect(error?.suggestions).toEqual([
      `url: ${url}/testops   # set this in the configuration, if the service is at this address`,
    ])
  })

  test('for the exchange alone', async () => {
    const other = await service()
    const { url } = await service({
      instead: instead('/api/uaa/oauth/token', reply(308, '', { location: `${other.url}/api/uaa/oauth/token` })),
    })
    const error = await errorOf((await opened(url)).accessToken())
    expect(said(error)).toMatch(
      new RegExp(
        String.raw`^UNEXPECTED_ANSWER POST \S+\/api\/uaa\/oauth\/token redirects to another host, ` +
          String.raw`http:\S+ \(HTTP 308\)\. The redirect was not followed`,
      ),
    )
    expect(error?.suggestions).toEqual([
      `url: ${other.url}   # set this in the configuration, if the service is at this address`,
    ])
    expect(other.received).toEqual([])
  })

  test('to a sign-in page does not say that it is the service', async () => {
    const { url } = await service({
      instead: instead('/api/uaa/me', reply(302, '', { location: 'https://sso.example.org/login?state=abc' })),
    })
    const error = await errorOf((await opened(url)).currentUser())
    expect(said(error)).toBe(
      `UNEXPECTED_ANSWER GET ${url}/api/uaa/me redirects to another host, https://sso.example.org/login (HTTP ` +
        '302). The redirect was not followed, to protect the token',
    )
    expect(error?.suggestions).toEqual([
      `curl -i ${url}/api/uaa/me   # shows the redirect; in the configuration, url must be the address of the ` +
        'service itself',
    ])
  })

  test.each(['', 'http://', '%'])('to "%s", which is no address', async (location) => {
    const { url } = await service({ instead: instead('/api/uaa/me', reply(302, '', { location })) })
    expect((await errorOf((await opened(url)).currentUser()))?.code).toBe('UNEXPECTED_ANSWER')
  })
})

describe('what is to be done about a refused token', () => {
  const next = async (url: string, token = 'another'): Promise<readonly string[]> =>
    (await errorOf((await opened(url, { apiToken: new Secret(token) })).accessToken()))?.suggestions ?? []
  const create = 'create a new API token in the user menu of the web interface, and set `apiToken` to this token'

  test('at an address with a path, which may be a page of the web interface', async () => {
    const { url } = await service()
    const suggestions = await next(`${url}/project/1`)
    expect(suggestions.slice(0, 2)).toEqual([
      `url: ${url}   # set this in the configuration, unless the address of the service includes /project/1`,
      create,
    ])
    expect((await next(url)).some((line) => line.startsWith('url: '))).toBe(false)
  })

  test('at an address where a sign-in answers', async () => {
    const { url } = await service({ instead: instead('/api/uaa/oauth/token', reply(200, '<title>Sign in</title>')) })
    expect((await next(url))[0]).toBe(
      'correct `url` in the configuration: use the address of the service itself, not of a sign-in page',
    )
  })

  test('that is a Bearer token', async () => {
    const { url } = await service()
    const suggestions = await next(url, 'eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjE3fQ.c2ln')
    expect(suggestions[0]).toBe(`${create}. The current token looks like a Bearer token, not an API token`)
    expect(suggestions.join()).not.toContain('eyJ')
  })
})
