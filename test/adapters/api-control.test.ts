import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openApiControl } from '../../src/adapters/api/index.ts'
import type { ApiControl } from '../../src/core/api-control.ts'
import { AdminError } from '../../src/core/error.ts'
import { html, reply } from './api-answers.ts'
import { apiAt } from './endpoints.ts'
import { migrationCall } from '../fakes/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { service } from './service.ts'
import type { PracticeApi } from './service.ts'

type Answer = ((response: ServerResponse) => void) | 'hang up' | 'say nothing' | null

const tree = { project: 1, tree: 2 }
async function control(url: string, timeoutMs = 2000): Promise<ApiControl> {
  const { source, close } = await openApiControl(apiAt(url), { timeoutMs })
  onTestFinished(close)
  return source
}

/** A service that answers what asks for migrations so, the first times; null: as ever. The last answer stays. */
async function answering(answers: readonly Answer[]): Promise<PracticeApi & { asked: () => number }> {
  let asked = 0
  const instead = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== 'POST' || !request.url?.endsWith('/migration')) return false
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? null
    if (answer === 'hang up') request.socket.destroy()
    else if (answer !== null && answer !== 'say nothing') answer(response)
    return answer !== null
  }
  return { ...(await service({ instead })), asked: () => asked }
}

const now = { 'retry-after': '0' }

/** Lets a call that may have been taken be made again so often. */
function times(count: number): () => Promise<boolean> {
  let left = count
  return async () => left-- > 0
}

describe('a migration is', () => {
  test.each([
    { what: '200', answer: reply(200, '{"id":1}') },
    { what: '202', answer: reply(202, '') },
    { what: '204', answer: reply(204, '') },
  ])('accepted with $what', async ({ answer }) => {
    const it = await answering([answer])
    expect(await (await control(it.url)).migrateTrees(tree, migrationCall())).toEqual({ status: 'accepted' })
    expect(it.asked()).toBe(1)
  })

  test.each([
    {
      what: '400',
      answer: reply(400, '{"status":400,"error":"Bad Request","message":"Failed to convert"}'),
      message: "HTTP 400, 'Bad Request: Failed to convert'",
      asked: 1,
    },
    {
      what: '403',
      answer: reply(403, '{"error":"Forbidden","message":"Access is denied"}'),
      message: "HTTP 403, 'Forbidden: Access is denied'",
      asked: 1,
    },
    {
      what: '404',
      answer: reply(404, '{"title":"Not Found","detail":"no tree 2"}'),
      message: "HTTP 404, 'Not Found: no tree 2'",
      asked: 1,
    },
    {
      what: '409',
      answer: reply(409, 'a migration is under way'),
      message: "HTTP 409, 'a migration is under way'",
      asked: 1,
    },
    { what: '423', answer: reply(423, ''), message: 'HTTP 423', asked: 1 },
    {
      what: '500, which may have begun',
      answer: reply(500, '{"error":"Internal Server Error","message":"boom"}'),
      message: "HTTP 500, 'Internal Server Error: boom'",
      asked: 1,
    },
  ])('refused with $what', async ({ answer, message, asked }) => {
    const it = await answering([answer])
    expect(await (await control(it.url)).migrateTrees(tree, migrationCall())).toEqual({
      status: 'refused',
      httpStatus: Number(message.slice(5, 8)),
      message,
    })
    expect(it.asked()).toBe(asked)
  })

  test.each([
    {
      what: '504, after which the service goes on',
      answer: reply(504, 'upstream request timeout'),
      message: "HTTP 504, 'upstream request timeout'",
      asked: 1,
    },
    { what: '502, twice', answer: reply(502, html), message: "HTTP 502, '502 Bad Gateway'", asked: 2 },
  ])('not known to be taken with $what', async ({ answer, message, asked }) => {
    const it = await answering([answer])
    const source = await control(it.url)
    expect(await source.migrateTrees(tree, migrationCall({ again: times(1) }))).toEqual({
      status: 'unknown',
      httpStatus: Number(message.slice(5, 8)),
      message,
    })
    expect(it.asked()).toBe(asked)
  })

  test('may have been taken, as long as a proxy that lost the service is all that answers', async () => {
    let isUp = true
    const { url } = await service({ instead: (_request, response) => !isUp && (reply(502, html)(response), true) })
    const source = await control(url)
    expect(await source.migrateTrees(tree, migrationCall())).toEqual({ status: 'accepted' })
    isUp = false
    const told: boolean[] = []
    const call = source.migrateTrees(tree, migrationCall({ patienceMs: 500, underway: (is) => void told.push(is) }))
    expect(await failureOf(call)).toMatch(
      /^UNREACHABLE HTTP 502, '502 Bad Gateway'\. The service did not come back within 0\.5 s$/,
    )
    expect(told.at(-1)).toBe(true)
  })

  test.each([429, 503])('given up at once where %i asks to wait for longer than the patience lasts', async (status) => {
    const it = await answering([reply(status, '{"message":"slowly"}', { 'retry-after': '600' })])
    const error = await errorOf((await control(it.url)).migrateTrees(tree, migrationCall()))
    expect([error?.code, error?.message, error?.suggestions]).toEqual([
      'EXHAUSTED',
      expect.stringMatching(
        new RegExp(
          `^POST http:\\S+/1/test-case/tree/2/migration: the service asks testops-admin to wait 600 s \\(HTTP ` +
            `${status}, 'slowly'\\)$`,
        ),
      ) as string,
      ['sleep 600   # then resume the run. To make the run wait longer, set --patience'],
    ])
    expect(it.asked()).toBe(1)
  })

  test('waited for as long as the service asks, as far as the patience goes', async () => {
    const it = await answering([
      ...Array.from({ length: 7 }, () => reply(429, '', now)),
      reply(429, '', { 'retry-after': '2' }),
      null,
    ])
    const told: string[] = []
    vi.spyOn(Math, 'random').mockReturnValue(-0.99)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(
      await (await control(it.url)).migrateTrees(
        tree,
        migrationCall({ patienceMs: 20_000, waiting: (message) => void told.push(message) }),
      ),
    ).toEqual({ status: 'accepted' })
    expect([it.asked(), told]).toEqual([9, ['the service asks testops-admin to wait 2 s (HTTP 429)']])
  })

  test.each([
    { what: '429', answers: [reply(429, '', now), null], asked: 2 },
    { what: '503', answers: [reply(503, '', now), null], asked: 2 },
    { what: '502, once', answers: [reply(502, html), null], asked: 2 },
    { what: 'a connection that breaks, once', answers: ['hang up', null], asked: 2 },
    { what: 'a token that has expired', answers: [reply(401, ''), null], asked: 2 },
  ] as { what: string; answers: Answer[]; asked: number }[])(
    'asked for again after $what',
    async ({ answers, asked }) => {
      const it = await answering(answers)
      expect(await (await control(it.url)).migrateTrees(tree, migrationCall())).toEqual({ status: 'accepted' })
      expect(it.asked()).toBe(asked)
      expect(it.migrated).toEqual(['1/2'])
    },
  )

  test('asked for no third time where connections go on breaking: it may have been taken twice', async () => {
    const it = await answering(['hang up'])
    const answer = await (await control(it.url)).migrateTrees(tree, migrationCall({ again: times(1) }))
    expect(answer).toEqual({
      status: 'unknown',
      httpStatus: 0,
      message: expect.stringMatching(
        /^the service at http:\S+\/api\/project\/1\/test-case\/tree\/2\/migration \(POST\) closed the connection$/,
      ) as string,
    })
    expect(it.asked()).toBe(2)
  })

  test('asked for once where no answer comes', async () => {
    const it = await answering(['say nothing'])
    const answer = await (await control(it.url, 500)).migrateTrees(tree, migrationCall())
    expect(answer).toEqual({
      status: 'unknown',
      httpStatus: 0,
      message: expect.stringMatching(/ did not answer within 0\.5 s$/) as string,
    })
    expect(it.asked()).toBe(1)
  })

  test.each([
    {
      what: 'a sign-in page',
      answer: reply(200, '<html><title>Sign in</title></html>'),
      error: /^POST \S+\/1\/test-case\/tree\/2\/migration returned an unexpected answer \(HTTP 200, 'Sign in'\)$/,
    },
    {
      what: 'a redirect',
      answer: reply(302, '', { location: 'https://sso.example.org/' }),
      error: new RegExp(
        String.raw`^POST \S+ redirects to another host, ` +
          String.raw`https:\/\/sso\.example\.org\/ \(HTTP 302\)\. The redirect was not followed`,
      ),
    },
  ])('not taken by $what', async ({ answer, error }) => {
    const it = await answering([answer])
    const outcome = await (await control(it.url)).migrateTrees(tree, migrationCall())
    expect(outcome).toEqual({ status: 'refused', httpStatus: 0, message: expect.stringMatching(error) as string })
    expect(it.asked()).toBe(1)
  })
})

test('a token that is refused for good is exchanged once more, whatever is asked for', async () => {
  const it = await answering([reply(401, '{"message":"Invalid access token"}')])
  const source = await control(it.url)
  for (let time = 0; time < 10; time++) {
    expect(await failureOf(source.migrateTrees(tree, migrationCall()))).toMatch(
      /^UNAUTHENTICATED POST \S+ does not accept the Bearer token \(HTTP 401, 'Invalid access token'\)$/,
    )
  }
  expect(it.received.filter(({ path }) => path === '/api/uaa/oauth/token').length).toBe(2)
})

describe('a service that restarts', () => {
  test('behind a proxy is waited for, however long the proxy answers in its place', async () => {
    let isUp = true
    const { url, received, migrated } = await service({
      instead: (_request, response) => !isUp && (reply(503, html)(response), true),
    })
    const source = await control(url)
    isUp = false
    const call = source.migrateTrees(tree, migrationCall({ patienceMs: 10_000 }))
    const looks = (): number => received.filter(({ path }) => path === '/api/management/health').length
    await expect.poll(looks, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    isUp = true
    expect(await call).toEqual({ status: 'accepted' })
    expect(migrated).toEqual(['1/2'])
  })

  test('is not taken to be back by a page that guards its health alone', async () => {
    let isUp = true
    let looks = 0
    const { url, migrated } = await service({
      instead: (request, response) => {
        if (request.url === '/api/management/health')
          return (reply(302, '', { location: 'https://sso.example.org/' })(response), true)
        if (!isUp && request.url === '/api/uaa/me') looks += 1
        return !isUp && (reply(503, html)(response), true)
      },
    })
    const source = await control(url)
    isUp = false
    const call = source.migrateTrees(tree, migrationCall({ patienceMs: 10_000 }))
    await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    isUp = true
    expect(await call).toEqual({ status: 'accepted' })
    expect(migrated).toEqual(['1/2'])
  })

  /** Another process at the same port, to which the tokens of the first mean nothing. */
  const restarting = async (): Promise<{
    url: string
    stop: () => Promise<void>
    start: () => Promise<void>
    asked: () => string[]
  }> => {
    let life = 0
    const asked: string[] = []
    const server = createServer((request, response) => {
      request.resume()
      if (request.url === '/api/management/health') return void response.end('{"status":"UP"}')
      if (request.url === '/api/uaa/oauth/token')
        return void response.end(JSON.stringify({ access_token: `token-of-life-${life}` }))
      const isKnown = request.headers.authorization === `Bearer token-of-life-${life}`
      asked.push(`${life} ${isKnown ? 202 : 401}`)
      response.writeHead(isKnown ? 202 : 401).end()
    })
    let port = 0
    const start = async (): Promise<void> => {
      life += 1
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
      port = (server.address() as AddressInfo).port
    }
    const stop = async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
    await start()
    onTestFinished(async () => (server.listening ? stop() : undefined))
    return { url: `http://127.0.0.1:${port}`, stop, start, asked: () => asked }
  }

  test('is waited for, and each call is made once, with a token of its own', async () => {
    const it = await restarting()
    const source = await control(it.url)
    expect(await source.migrateTrees(tree, migrationCall())).toEqual({ status: 'accepted' })
    await it.stop()
    const calls = Promise.all(
      [1, 2, 3].map(async (of) => source.migrateTrees({ project: 1, tree: of }, migrationCall())),
    )
    await sleep(600)
    await it.start()
    expect(await calls).toEqual([{ status: 'accepted' }, { status: 'accepted' }, { status: 'accepted' }])
    expect(it.asked().filter((line) => line.endsWith('202'))).toEqual(['1 202', '2 202', '2 202', '2 202'])
  })

  test('and does not come back is given up in time', async () => {
    const it = await restarting()
    const source = await control(it.url)
    await it.stop()
    expect(await failureOf(source.migrateTrees(tree, migrationCall({ patienceMs: 700 })))).toMatch(
      new RegExp(
        String.raw`^UNREACHABLE the service at http:\S+ \(POST\) refused the connection.*\. ` +
          String.raw`The service did not come back within 0\.7 s$`,
      ),
    )
  })

  test('is waited for no longer once that is not wanted', async () => {
    const it = await restarting()
    const source = await control(it.url)
    await it.stop()
    const stop = new AbortController()
    const call = failureOf(source.migrateTrees(tree, migrationCall({ signal: stop.signal, patienceMs: 60_000 })))
    await sleep(300)
    stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
    expect(await call).toBe('INTERRUPTED interrupted by SIGINT')
  })
})

describe('what is under way ends at once when it is to stop', () => {
  test.each([
    { what: 'a call without an answer', answer: 'say nothing' as const },
    { what: 'a pause that was asked for', answer: reply(429, '', { 'retry-after': '50' }) },
  ])('$what', async ({ answer }) => {
    const it = await answering([answer])
    const source = await control(it.url, 60_000)
    const stop = new AbortController()
    const call = failureOf(source.migrateTrees(tree, migrationCall({ signal: stop.signal, patienceMs: 60_000 })))
    await expect.poll(it.asked).toBe(1)
    stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
    expect(await call).toBe('INTERRUPTED interrupted by SIGINT')
    expect(it.asked()).toBe(1)
  })
})

test('many calls at a time are no leak of listeners', async () => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.removeListener('warning', note))
  const it = await service()
  const source = await control(it.url)
  const own = new AbortController()
  await Promise.all(
    Array.from({ length: 40 }, async () => source.migrateTrees(tree, migrationCall({ signal: own.signal }))),
  )
  // warnings come with the next turn
  await sleep(10)
  expect(it.migrated.length).toBe(40)
  expect(warnings).toEqual([])
})

test('an unknown host is not waited for', async () => {
  const error = await errorOf(openApiControl(apiAt('http://service.invalid'), { timeoutMs: 2000 }))
  expect([error?.code, error?.obstacle?.kind]).toEqual(['UNREACHABLE', 'unresolved'])
})
