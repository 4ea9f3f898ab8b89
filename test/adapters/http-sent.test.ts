import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHttp } from '../../src/adapters/http.ts'
import type { HttpClient } from '../../src/adapters/http.ts'
import { failureOf } from './failure-of.ts'
import { closedPort, closingPeer, foreignPeer } from './peers.ts'
import { service } from './service.ts'

const files = new URL('../fixtures/tls/', import.meta.url)
const pem = (name: string): string => readFileSync(new URL(name, files), 'utf8')

async function client(baseUrl: string, ca: string | null = null): Promise<HttpClient> {
  const http = await openHttp({
    what: 'the service',
    baseUrl,
    suggestions: [],
    ca,
    verify: true,
    timeoutMs: 2000,
    maxBytes: 1000,
  })
  onTestFinished(async () => http.close())
  return http
}

/** How often it was said that a request goes out, and how that went. */
async function sentTo(http: HttpClient): Promise<{ sent: number; failure: string | null }> {
  let sent = 0
  const failure = await failureOf(http.request('/', { method: 'POST', sent: () => (sent += 1) }))
  return { sent, failure }
}

async function secured(): Promise<string> {
  const { url } = await service({
    server: (listener) => createTlsServer({ key: pem('localhost-key.pem'), cert: pem('localhost.pem') }, listener),
  })
  return url.replace('http:', 'https:').replace('127.0.0.1', 'localhost')
}

describe('a request may have been read', () => {
  test('once there is a connection, a new one or one that was kept', async () => {
    for (const http of [await client((await service()).url), await client(await secured(), pem('authority.pem'))]) {
      expect(await sentTo(http)).toEqual({ sent: 1, failure: null })
      expect(await sentTo(http)).toEqual({ sent: 1, failure: null })
    }
  })

  test('where the connection breaks afterwards', async () => {
    expect(await sentTo(await client(`http://127.0.0.1:${await closingPeer()}`))).toMatchObject({ sent: 1 })
    expect(await sentTo(await client(`http://127.0.0.1:${await foreignPeer('no HTTP')}`))).toMatchObject({ sent: 1 })
  })

  test('but not where there is none', async () => {
    expect(await sentTo(await client(`http://127.0.0.1:${await closedPort()}`))).toMatchObject({
      sent: 0,
      failure: expect.stringMatching(/^UNREACHABLE /) as string,
    })
  })

  test('nor where the other side cannot be trusted', async () => {
    expect(await sentTo(await client(await secured()))).toMatchObject({
      sent: 0,
      failure: expect.stringMatching(/ is not trusted: /) as string,
    })
  })
})
