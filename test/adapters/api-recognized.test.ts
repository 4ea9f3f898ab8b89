import { describe, expect, test } from 'vitest'
import { html, opened, reply } from './api-answers.ts'
import { errorOf } from './failure-of.ts'
import { service } from './service.ts'
import type { ServiceOptions } from './service.ts'
import type { ServerResponse } from 'node:http'

type Answer = (response: ServerResponse) => void
/** These paths answer otherwise than the service does. */
const guarded = (answers: Readonly<Record<string, Answer>>): ServiceOptions => ({
  instead(request, response) {
    const answer = answers[request.url ?? '']
    answer?.(response)
    return answer !== undefined
  },
})
const health = '/api/management/health'
const exchange = '/api/uaa/oauth/token'
const user = '/api/uaa/me'
const signIn = reply(302, '', { location: 'https://sso.example.org/auth' })
const denied = reply(403, html)

describe('a service whose health is guarded', () => {
  test.each([
    { what: 'with 403', answer: denied },
    { what: 'with 404', answer: reply(404, '{"status":404,"error":"Not Found"}') },
    { what: 'by a sign-in', answer: signIn },
    { what: 'by a page', answer: reply(200, html) },
  ])('$what is recognized by its exchange', async ({ answer }) => {
    const { url } = await service(guarded({ [health]: answer }))
    expect(await (await opened(url)).recognized()).toEqual({
      isService: true,
      shown: 'POST /api/uaa/oauth/token exchanges the API token',
    })
  })

  const refused = reply(401, '{"error":"unauthorized","error_description":"Bad credentials"}')
  test.each([
    { what: 'in words', wants: {} },
    { what: 'in a header', wants: { [user]: reply(401, '', { 'www-authenticate': 'Bearer realm="x"' }) } },
  ])('is recognized by its wish for a token, $what, where the API token is wrong', async ({ wants }) => {
    const { url } = await service(guarded({ [health]: denied, [exchange]: refused, ...wants }))
    expect(await (await opened(url)).recognized()).toEqual({
      isService: true,
      shown: 'GET /api/uaa/me requires a Bearer token',
    })
  })

  test('is recognized without an API token', async () => {
    const { url } = await service(guarded({ [health]: denied }))
    expect(await (await opened(url, { apiToken: null })).recognized()).toMatchObject({ isService: true })
  })
})

describe('something else', () => {
  test.each([
    {
      what: 'a sign-in before everything',
      answer: signIn,
      shown: /redirects to another host, https:\/\/sso\.example\.org\/auth/,
    },
    {
      what: 'a guard of everything',
      answer: reply(401, '{"message":"Unauthorized"}'),
      shown: /refused the API token, or .* is not the service's address/,
    },
    {
      what: 'a web server',
      answer: reply(404, html),
      shown: /refused the API token, or .* is not the service's address/,
    },
    {
      what: 'the same page everywhere',
      answer: reply(200, html),
      shown: /returned an unexpected answer to the token exchange/,
    },
  ])('$what', async ({ answer, shown }) => {
    const { url } = await service({ instead: (_request, response) => (answer(response), true) })
    expect(await (await opened(url)).recognized()).toEqual({
      isService: false,
      shown: expect.stringMatching(shown) as string,
    })
  })

  test('what accepts no more calls is not judged', async () => {
    const { url } = await service(guarded({ [health]: denied, [exchange]: reply(429, '', { 'retry-after': '60' }) }))
    expect((await errorOf((await opened(url)).recognized()))?.code).toBe('EXHAUSTED')
  })
})
