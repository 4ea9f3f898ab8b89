import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { html, instead, opened, reply } from './api-answers.ts'
import { failureOf } from './failure-of.ts'
import { service } from './service.ts'

describe('the clock', () => {
  test.each([0, -3_600_000, 90_000])('is off by %d ms', async (offset) => {
    const dated = (response: ServerResponse): void =>
      void response.setHeader('date', new Date(Date.now() + offset).toUTCString())
    const { url } = await service({ instead: (_request, response) => (dated(response), false) })
    const { offsetMs, uncertaintyMs } = await (await opened(url)).clock()
    expect(Math.abs(offsetMs - offset)).toBeLessThanOrEqual(uncertaintyMs)
    expect(uncertaintyMs).toBeLessThan(700)
  })

  test.each(['', 'yesterday'])('is shown as "%s"', async (date) => {
    const { url } = await service({ instead: (_request, response) => (response.setHeader('date', date), false) })
    expect(await failureOf((await opened(url)).clock())).toBe(`UNEXPECTED_ANSWER ${url} sends no valid \`Date\` header`)
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
    expect(await (await opened(url)).migrationJobs({ status: null, atMost: 9 })).toEqual(
      jobs && { complete: true, jobs },
    )
  })

  const failures = [
    {
      what: 'not allowed',
      answer: reply(403, '{"message":"Access is denied"}'),
      error: new RegExp(
        String.raw`^FORBIDDEN GET \S+\/api\/migration\/job is not allowed for this API token's user ` +
          String.raw`\(HTTP 403, 'Access is denied'\)$`,
      ),
    },
    {
      what: 'a page',
      answer: reply(200, html),
      error: new RegExp(
        String.raw`^UNEXPECTED_ANSWER GET \S+\/api\/migration\/job returned an unexpected answer ` +
          String.raw`\(HTTP 200, '502 Bad Gateway'\)$`,
      ),
    },
  ]
  test.each(failures)('$what', async ({ answer, error }) => {
    const { url } = await service({ instead: instead('/api/migration/job', answer) })
    expect(await failureOf((await opened(url)).migrationJobs({ status: null, atMost: 9 }))).toMatch(error)
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

test('how quickly a page is given that guards its health says nothing of the service', async () => {
  const { url } = await service({
    instead: instead('/api/management/health', reply(200, '<html><title>Sign in</title></html>')),
  })
  expect(await (await opened(url)).latencies()).toEqual([])
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
  expect(await failureOf(source.clock())).toMatch(/^UNEXPECTED_ANSWER http:\S+ sends no valid `Date` header$/)
})

test('a service that dies in the middle', async () => {
  let dying = false
  const { url } = await service({ instead: (request) => dying && (request.socket.destroy(), true) })
  const source = await opened(url)
  dying = true
  expect(await failureOf(source.health())).toMatch(/^UNREACHABLE the service at \S+ closed the connection$/)
})
