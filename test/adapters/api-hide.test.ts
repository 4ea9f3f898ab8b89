import { describe, expect, test } from 'vitest'
import { hideSecrets } from '../../src/adapters/api/token.ts'
import { instead, opened, reply } from './api-answers.ts'
import { errorOf } from './failure-of.ts'
import { apiToken, service } from './service.ts'

const secret = '6a1c7f58-3f0e-4a52+9d6c/0c5f6a1f0b01'
const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjE3MDAwMDAwMDB9.c2lnbmF0dXJl`

describe('what is said of a token', () => {
  test.each([
    ['nothing', 'nothing'],
    [`invalid token ${secret}`, 'invalid token [secret]'],
    [`<${secret}><${secret}>`, '<[secret]><[secret]>'],
    [`token=${encodeURIComponent(secret)}&a=1`, 'token=[secret]&a=1'],
    [`unknown: ${secret.slice(0, 20)}…`, 'unknown: [secret]…'],
    [`ends with ${secret.slice(-12)}`, 'ends with [secret]'],
    [`starts with ${secret.slice(0, 4)}`, `starts with ${secret.slice(0, 4)}`],
    [`Bearer ${jwt} expired`, 'Bearer [secret] expired'],
    [`Bearer ${jwt.slice(0, 30)}`, 'Bearer [secret]'],
    ['eyJ is how they begin', 'eyJ is how they begin'],
  ])('%s', (said, shown) => {
    expect(hideSecrets([secret])(said)).toBe(shown)
  })

  test('short ones are hidden as a whole', () => {
    expect(hideSecrets(['abc', ''])('abc: abcd')).toBe('[secret]: [secret]d')
  })
})

describe('a service that says back what it was sent', () => {
  const spring = (message: string): string => JSON.stringify({ status: 401, error: 'Unauthorized', message })
  test.each([
    { what: 'JSON', body: spring(`no such token: ${apiToken}`) },
    { what: 'a page', body: `<title>Token ${apiToken} is unknown</title>` },
    { what: 'half a token', body: `bad token ${apiToken.slice(0, 10)}...` },
    {
      what: 'an escaped one',
      body: spring('').replace(
        '""',
        `"token ${[...apiToken].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
      ),
    },
  ])('as $what, of the API token', async ({ body }) => {
    const { url } = await service({ instead: instead('/api/uaa/oauth/token', reply(401, body)) })
    const error = await errorOf((await opened(url)).accessToken())
    expect(error?.code).toBe('UNAUTHENTICATED')
    expect(error?.message).toContain('[secret]')
    expect(JSON.stringify([error?.message, error?.suggestions])).not.toContain(apiToken.slice(0, 8))
  })

  test.each([
    { what: 'in a message', status: 403, location: undefined },
    { what: 'in a redirect', status: 302, location: true },
  ])('of the Bearer token, $what', async ({ status, location }) => {
    const { url } = await service({
      instead(request, response) {
        if (request.url !== '/api/uaa/me') return false
        const bearer = request.headers.authorization ?? ''
        const headers = location ? { location: `https://sso.example.org/${bearer.slice(7)}/api/uaa/me` } : {}
        response.writeHead(status, headers).end(`what is ${bearer}?`)
        return true
      },
    })
    const error = await errorOf((await opened(url)).currentUser())
    expect(error?.message).toContain('[secret]')
    expect(JSON.stringify([error?.message, error?.suggestions])).not.toMatch(/eyJ/)
  })
})
