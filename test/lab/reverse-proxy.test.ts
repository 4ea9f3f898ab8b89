import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { forward, logLine } from '../../src/lab/reverse-proxy/forward.ts'
import { usualLimits } from '../../src/lab/reverse-proxy/orders.ts'
import type { ProxyOrders } from '../../src/lab/reverse-proxy/orders.ts'
import { readAccessLog } from '../../src/logs/access-log.ts'
import type { LabDownDocument } from '../../src/output/lab.ts'
import { processesWith } from '../support/processes.ts'
import { ownLab } from './support/own-lab.ts'

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** Answers at once with what it was asked, but for /late. */
const service: RequestListener = (request, answer) => {
  if (request.url === '/late') return
  const reply = (body: string): void => {
    answer.setHeader('set-cookie', ['a=1', 'b=2'])
    if (request.url === '/cookies') answer.setHeader('x-long', 'x'.repeat(5000))
    answer
      .writeHead(201, { 'x-from': 'the service' })
      .end(`${request.method} ${request.url} ${request.headers['authorization']} ${body.length}`)
  }
  // a request that the proxy cuts does not come to its end
  text(request).then(reply, () => undefined)
}

async function proxy(limits: Partial<ProxyOrders> = {}): Promise<string> {
  const servicePort = limits.servicePort ?? (await listen(service))
  return (
    'http://127.0.0.1:' +
    `${await listen((request, answer) => forward(request, answer, { ...usualLimits, ...limits, servicePort }))}`
  )
}

const ask = (url: string, init: RequestInit = {}): Promise<Response> => fetch(url, { redirect: 'manual', ...init })

describe('the reverse proxy', () => {
  test('hands on what is asked and answered', async () => {
    const answer = await ask(`${await proxy()}/api/x?y=z`, {
      method: 'POST',
      body: 'x'.repeat(100_000),
      headers: { authorization: 'Bearer t' },
    })
    expect([answer.status, answer.headers.get('x-from'), answer.headers.getSetCookie()]).toEqual([
      201,
      'the service',
      ['a=1', 'b=2'],
    ])
    expect(await answer.text()).toBe('POST /api/x?y=z Bearer t 100000')
  })

  test.each([
    ['of a known length', (): NonNullable<RequestInit['body']> => 'x'.repeat(2_000_000)],
    ['of an unknown length', (): NonNullable<RequestInit['body']> => new Blob(['x'.repeat(2_000_000)]).stream()],
  ])('refuses a large request %s', async (_length, body) => {
    const init = { method: 'POST', body: body(), duplex: 'half' } as RequestInit
    const answer = await ask(`${await proxy({ maxBodyBytes: 1_900_000 })}/x`, init)
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('413 Request Entity Too Large')])
  })

  test('waits for a while, then answers itself', async () => {
    expect((await ask(`${await proxy({ readTimeoutMs: 100 })}/late`)).status).toBe(504)
  })

  test('says where the service is not', async () => {
    expect((await ask(`${await proxy({ servicePort: 1 })}/x`)).status).toBe(502)
  })

  test('cannot use an answer with a large head', async () => {
    const base = await proxy()
    expect([(await ask(`${base}/cookies`)).status, (await ask(`${base}/x`)).status]).toEqual([502, 201])
  })

  test('sends whoever asks for a page without a session to the identity provider', async () => {
    const base = await proxy({ identityProvider: 'https://idp.example.org/', openPages: ['/login/system'] })
    const status = async (path: string, init?: RequestInit): Promise<unknown> => {
      const answer = await ask(`${base}${path}`, init)
      return answer.headers.get('location') ?? answer.status
    }
    expect(await status('/')).toBe('https://idp.example.org/')
    expect(await status('/login')).toBe('https://idp.example.org/')
    expect(await status('/login/system?a=b')).toBe(201)
    expect(await status('/api/project')).toBe(201)
    expect(await status('/', { headers: { cookie: 'ALLURE_TESTOPS_SESSION=abc' } })).toBe(201)
  })
})

test('its log is read as that of nginx is', () => {
  const answered = {
    at: new Date('2026-11-05T09:08:07Z'),
    address: '127.0.0.1',
    method: 'GET',
    target: '/api/project?token=secret',
    status: 200,
    bytes: 12,
    referer: undefined,
    agent: 'it\'s "x\\y"\n',
    authorization: 'api-token 6a1c7f58',
  }
  const line = logLine(answered)
  expect(line).toBe(
    '127.0.0.1 - - [05/Nov/2026:09:08:07 +0000] "GET /api/project?token=secret HTTP/1.1" 200 12 "-" ' +
      String.raw`"it's \x22x\x5Cy\x22\x0A" "api-token"` +
      '\n',
  )
  const { requests, unread } = readAccessLog(
    `${line}${logLine({ ...answered, agent: 'curl/8.5.0', authorization: undefined })}`,
  )
  const read = { at: answered.at, client: '127.0.0.1', method: 'GET', path: '/api/project', status: 200 }
  expect({ requests, unread }).toEqual({
    requests: [
      { ...read, agent: 'it', scheme: 'api-token' },
      { ...read, agent: 'curl/8.5.0', scheme: null },
    ],
    unread: 0,
  })
})

test('it goes with the lab', async () => {
  const lab = await ownLab()
  await lab.must('lab', 'up')
  await lab.must('lab', 'break', 'admin-signin/open')
  expect(processesWith([join(lab.root, 'reverse-proxy')])).toHaveLength(1)
  expect((await stat(join(lab.root, 'reverse-proxy', 'access.log'))).mode & 0o777).toBe(0o600)
  const { document } = await lab.json<DoctorReport>('doctor', '-d', 'lab', '--only', 'api/system-login')
  expect(document.checks[0]).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(
      /^the proxy lets http:\S+\/login\/system through: 3 requests.*the built-in administrator signs in there$/,
    ) as unknown,
  })
  const { document: down } = await lab.json<LabDownDocument>('lab', 'down')
  expect(down.removed).toContain('the reverse proxy in front of the service')
  expect(await lab.end()).toEqual([])
}, 180_000)
