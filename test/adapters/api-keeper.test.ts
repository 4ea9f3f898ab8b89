import { describe, expect, test, vi } from 'vitest'
import { tokenKeeper } from '../../src/adapters/api/token.ts'
import type { HeldToken } from '../../src/adapters/api/token.ts'
import { openApi, openApiControl } from '../../src/adapters/api/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { migrationCall } from '../fakes/index.ts'
import { instead, opened, reply } from './api-answers.ts'
import { apiAt } from './endpoints.ts'
import { failureOf } from './failure-of.ts'
import { apiToken, service } from './service.ts'

const exchangePath = '/api/uaa/oauth/token'

function token(of: Partial<HeldToken> = {}): HeldToken {
  const facts = { issuedAt: null, expiresAt: null, expiresInSeconds: null, answeredAt: null }
  return {
    bearer: new Secret('a'),
    facts,
    lifeSeconds: null,
    exchangedAt: 0,
    renewAt: Infinity,
    endsAt: Infinity,
    ...of,
  }
}

describe('a token', () => {
  test('is exchanged once, however many want it at a time', async () => {
    const keeper = tokenKeeper()
    const exchange = vi.fn(async () => token())
    const all = await Promise.all(Array.from({ length: 50 }, async () => keeper.current(exchange)))
    expect(new Set(all).size).toBe(1)
    expect(exchange).toHaveBeenCalledTimes(1)
  })

  test('is exchanged anew once, however many were refused with the old one', async () => {
    const keeper = tokenKeeper()
    const exchange = vi.fn(async () => token())
    const old = await keeper.current(exchange)
    const all = await Promise.all(Array.from({ length: 50 }, async () => keeper.instead(old, exchange)))
    // one whose refusal comes late
    all.push(await keeper.instead(old, exchange))
    expect(new Set(all).size).toBe(1)
    expect(all[0]).not.toBe(old)
    expect(exchange).toHaveBeenCalledTimes(2)
  })

  test('that is refused, as the one before it was, is not exchanged for a third', async () => {
    const keeper = tokenKeeper()
    const exchange = vi.fn(async () => token())
    const second = await keeper.instead(await keeper.current(exchange), exchange)
    expect(second && (await keeper.instead(second, exchange))).toBe(null)
    expect(exchange).toHaveBeenCalledTimes(2)
  })

  test('that was accepted in between may be exchanged again', async () => {
    const keeper = tokenKeeper()
    const exchange = vi.fn(async () => token())
    const second = (await keeper.instead(await keeper.current(exchange), exchange)) ?? token()
    keeper.accepted(second)
    expect(await keeper.instead(second, exchange)).not.toBe(null)
    expect(exchange).toHaveBeenCalledTimes(3)
  })

  test('whose exchange fails is not kept', async () => {
    const keeper = tokenKeeper()
    await expect(keeper.current(async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(await keeper.current(async () => token({ lifeSeconds: 5 }))).toMatchObject({ lifeSeconds: 5 })
  })

  test('is exchanged anew once, by many at a time, when it is about to end', async () => {
    const keeper = tokenKeeper()
    await keeper.current(async () => token({ renewAt: 0 }))
    const exchange = vi.fn(async () => token())
    await Promise.all(Array.from({ length: 50 }, async () => keeper.current(exchange)))
    expect(exchange).toHaveBeenCalledTimes(1)
  })

  describe('that is about to end, and cannot be exchanged anew,', () => {
    const away = async (): Promise<HeldToken> => Promise.reject(new Error('the service restarts'))

    test('serves until its end, and is not asked for anew by each of many calls', async () => {
      const keeper = tokenKeeper()
      const old = await keeper.current(async () => token({ renewAt: 0, endsAt: performance.now() + 60_000 }))
      const exchange = vi.fn(away)
      for (let time = 0; time < 3; time++)
        expect(new Set(await Promise.all(Array.from({ length: 50 }, async () => keeper.current(exchange))))).toEqual(
          new Set([old]),
        )
      expect(exchange).toHaveBeenCalledTimes(1)
    })

    test('is exchanged a little later, when the service is back', async () => {
      vi.useFakeTimers({ toFake: ['performance'] })
      try {
        const keeper = tokenKeeper()
        const old = await keeper.current(async () => token({ renewAt: 0, endsAt: performance.now() + 60_000 }))
        expect(await keeper.current(away)).toBe(old)
        vi.advanceTimersByTime(10_000)
        expect(await keeper.current(async () => token({ lifeSeconds: 5 }))).toMatchObject({ lifeSeconds: 5 })
      } finally {
        vi.useRealTimers()
      }
    })

    test('does not serve after its end', async () => {
      const keeper = tokenKeeper()
      await keeper.current(async () => token({ renewAt: 0, endsAt: performance.now() }))
      await expect(keeper.current(away)).rejects.toThrow('the service restarts')
    })

    test('does not serve once it was refused', async () => {
      const keeper = tokenKeeper()
      const old = await keeper.current(async () => token({ renewAt: 0 }))
      await expect(keeper.instead(old, away)).rejects.toThrow('the service restarts')
      await expect(keeper.current(away)).rejects.toThrow('the service restarts')
    })
  })
})

/** How often the token is exchanged while something is asked each minute. */
async function exchangesIn(
  minutes: number,
  answer: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
  aheadSeconds: number,
): Promise<number> {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const body = JSON.stringify({ access_token: `eyJhIjoxfQ.${payload}.c2ln`, ...answer })
  const { url, received } = await service({
    instead: (request, response) => {
      const isExchange = request.url === exchangePath
      if (isExchange) reply(200, body, { date: new Date(Date.now() + aheadSeconds * 1000).toUTCString() })(response)
      else if (request.url === '/api/uaa/me') reply(200, '{"id":1}')(response)
      return isExchange || request.url === '/api/uaa/me'
    },
  })
  const source = await opened(url)
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    for (let minute = 0; minute < minutes; minute++) {
      await source.currentUser()
      vi.advanceTimersByTime(60_000)
    }
  } finally {
    vi.useRealTimers()
  }
  return received.filter(({ path }) => path === exchangePath).length
}

const now = (): number => Math.floor(Date.now() / 1000)
interface Life {
  answer: Readonly<Record<string, unknown>>
  claims: Readonly<Record<string, unknown>>
  exchanges: number
  /** the service's clock before this one */
  aheadSeconds?: number
}
const hourOff = (): { iat: number; exp: number } => ({ iat: now() - 7200, exp: now() - 3600 })

describe('in six hours of work', () => {
  test.each([
    { what: 'an hour of life', answer: { expires_in: 3600 }, claims: {}, exchanges: 7 },
    { what: 'an hour, on a clock that is two hours behind', answer: {}, claims: hourOff(), exchanges: 7 },
    {
      what: 'an hour, on a clock that is ahead',
      answer: {},
      claims: { iat: now() + 3600, exp: now() + 7200 },
      exchanges: 7,
    },
    { what: 'an end in a day, and no beginning', answer: {}, claims: { exp: now() + 86_400 }, exchanges: 1 },
    { what: 'an end in ten minutes, and no beginning', answer: {}, claims: { exp: now() + 600 }, exchanges: 40 },
    {
      what: 'an end in ten minutes by a clock that is an hour behind',
      answer: {},
      claims: { exp: now() - 3000 },
      aheadSeconds: -3600,
      exchanges: 40,
    },
    {
      what: 'an end in a day by a clock that is an hour ahead',
      answer: {},
      claims: { exp: now() + 90_000 },
      aheadSeconds: 3600,
      exchanges: 1,
    },
    { what: 'an end that is over, and no beginning', answer: {}, claims: { exp: now() - 3600 }, exchanges: 7 },
    { what: 'no life at all', answer: { expires_in: 0 }, claims: {}, exchanges: 7 },
    { what: 'less than no life', answer: { expires_in: -3600 }, claims: hourOff(), exchanges: 7 },
    { what: 'a life without end', answer: { expires_in: 1e300 }, claims: hourOff(), exchanges: 7 },
    { what: 'a life in words', answer: { expires_in: 'an hour' }, claims: { iat: 'now', exp: {} }, exchanges: 7 },
    { what: 'a day', answer: { expires_in: 86_400 }, claims: {}, exchanges: 1 },
  ])(
    'a token with $what is exchanged $exchanges times',
    async ({ answer, claims, exchanges, aheadSeconds = 0 }: Life) => {
      expect(await exchangesIn(360, answer, claims, aheadSeconds)).toBe(exchanges)
    },
  )
})

test('a request log shows one exchange, and the API token nowhere else', async () => {
  const { url, received, migrated } = await service()
  const tokens = tokenKeeper()
  const endpoint = apiAt(url)
  const api = await openApi(endpoint, { timeoutMs: 3000, tokens })
  const control = await openApiControl(endpoint, { timeoutMs: 3000, tokens })
  await Promise.all([
    api.source.currentUser(),
    api.source.projects(),
    api.source.trees(1),
    api.source.migrationJobs({ status: null, atMost: 1 }),
    ...[1, 2, 1, 2].map(async (tree) => control.source.migrateTrees({ project: 1, tree }, migrationCall())),
  ])
  expect(await failureOf(api.source.trees(9))).toMatch(/^USAGE /)
  await api.close()
  await control.close()
  expect(migrated.length).toBe(4)
  const withApiToken = received.filter((request) => JSON.stringify(request).includes(apiToken))
  expect(withApiToken.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST ${exchangePath}`])
  const others = received.filter(({ path }) => path !== exchangePath && path !== '/api/management/health')
  expect(others.every(({ headers }) => headers.authorization?.startsWith('Bearer eyJ'))).toBe(true)
})

describe('a token that is', () => {
  test.each([
    { what: 'expired on the server', message: 'Access token expired' },
    { what: 'revoked', message: 'Invalid access token' },
  ])('$what is exchanged anew, and nobody hears of it', async ({ message }) => {
    let refused = 0
    const refusing = instead('/api/uaa/me', reply(401, JSON.stringify({ status: 401, error: 'Unauthorized', message })))
    const { url, received } = await service({
      instead: (request, response, body) =>
        request.url === '/api/uaa/me' && refused++ === 0 && refusing(request, response, body),
    })
    expect(await (await opened(url)).currentUser()).toMatchObject({ username: 'admin' })
    expect(received.filter(({ path }) => path === exchangePath).length).toBe(2)
  })

  test.each([
    'eyJhbGciOiJSUzI1NiJ9',
    'eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjE3',
    'eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjE3.',
    '..',
    'a.W10.b',
  ])('cut off, %s, is used as it is, and refused once for all', async (cut) => {
    const { url, received } = await service({
      instead: instead(exchangePath, reply(200, JSON.stringify({ access_token: cut }))),
    })
    const source = await opened(url)
    for (let time = 0; time < 5; time++)
      expect(await failureOf(source.currentUser())).toMatch(/^UNAUTHENTICATED GET \S+\/api\/uaa\/me does not accept/)
    expect(received.filter(({ path }) => path === exchangePath).length).toBe(2)
  })
})
