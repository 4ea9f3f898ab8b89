import { describe, expect, onTestFinished, test } from 'vitest'
import { openApiLogin } from '../../src/adapters/api/index.ts'
import type { AccessToken } from '../../src/core/sources.ts'
import { apiAt } from './endpoints.ts'
import { html, instead, opened, reply } from './api-answers.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { apiToken, service } from './service.ts'
import type { ServiceOptions } from './service.ts'

describe('the token', () => {
  test('is exchanged once, as SPEC.md says, and the API token goes nowhere else', async () => {
    const { url, received } = await service()
    const source = await opened(url)
    await Promise.all([source.accessToken(), source.currentUser(), source.migrationJobs({ status: null, atMost: 1 })])
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
      `UNAUTHENTICATED POST ${url}/api/uaa/oauth/token refused the API token, or ${url} is not the service's ` +
        `address (${reason})`,
    )
    expect(JSON.stringify(failure?.suggestions)).not.toContain(apiToken)
  })

  const strange = [
    { what: 'a page', answer: reply(200, '<html><title>Sign in</title></html>'), reason: `HTTP 200, 'Sign in'` },
    { what: 'JSON without a token', answer: reply(200, '{"token_type":"bearer"}'), reason: 'HTTP 200' },
    { what: 'nothing', answer: reply(500, ''), reason: 'HTTP 500' },
    {
      what: "Spring's error",
      answer: reply(
        500,
        JSON.stringify({ timestamp: 1, status: 500, error: 'Internal Server Error', message: 'boom', trace: 'at x' }),
      ),
      reason: `HTTP 500, 'Internal Server Error: boom'`,
    },
  ]
  test.each(strange)('is answered with $what', async ({ answer, reason }) => {
    const { url, received } = await service({ instead: instead('/api/uaa/oauth/token', answer) })
    expect(await failureOf((await opened(url)).accessToken())).toBe(
      `UNEXPECTED_ANSWER POST ${url}/api/uaa/oauth/token returned an unexpected answer to the token exchange ` +
        `(${reason})`,
    )
    expect(received.length).toBe(2)
  })

  test('is answered by a proxy that does not reach the service', async () => {
    const { url, received } = await service({ instead: instead('/api/uaa/oauth/token', reply(502, html)) })
    expect(await failureOf((await opened(url)).accessToken())).toBe(
      `UNREACHABLE a proxy answers POST ${url}/api/uaa/oauth/token, but cannot reach the service behind it ` +
        "(HTTP 502, '502 Bad Gateway')",
    )
    expect(received.length).toBe(2)
  })

  const tokens: { what: string; options: ServiceOptions; facts: Partial<AccessToken> }[] = [
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
    expect(await (await opened((await service(options)).url)).accessToken()).toMatchObject(facts)
  })

  test.each(['ключ', 'two words', 'line\nbreak', ''])('that no header can carry: %j', async (token) => {
    const { url, received } = await service({
      instead: instead('/api/uaa/oauth/token', reply(200, JSON.stringify({ access_token: token }))),
    })
    const failure = await errorOf((await opened(url)).currentUser())
    expect(failure?.code).toBe('UNEXPECTED_ANSWER')
    expect(failure?.message).toBe(
      token === ''
        ? `POST ${url}/api/uaa/oauth/token returned an unexpected answer to the token exchange (HTTP 200)`
        : `POST ${url}/api/uaa/oauth/token returned an invalid \`access_token\`: it contains whitespace or non-ASCII ` +
            'characters',
    )
    expect(received.length).toBe(2)
  })

  test('that is no JWT', async () => {
    const { url } = await service({ instead: instead('/api/uaa/oauth/token', reply(200, '{"access_token":"opaque"}')) })
    expect(await (await opened(url)).accessToken()).toMatchObject({
      issuedAt: null,
      expiresAt: null,
      expiresInSeconds: null,
    })
  })

  test.each([
    { what: 'its end is before the date of the answer', options: { expiresIn: null, claims: { iat: 100, exp: 3700 } } },
    { what: 'the answer says that nothing is left of it', options: { expiresIn: 0 } },
  ])('is told to be over where $what', async ({ options }) => {
    const { source, close } = await openApiLogin(apiAt((await service(options)).url), { timeoutMs: 2000 })
    onTestFinished(close)
    expect((await source.bearer()).expiresInSeconds).toBe(0)
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
      `UNAUTHENTICATED GET ${url}/api/uaa/me does not accept the Bearer token (HTTP 401, 'Full authentication ` +
        "is required')",
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
