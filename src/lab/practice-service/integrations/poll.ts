import { lookup } from 'node:dns/promises'
import { request as plain } from 'node:http'
import { request as encrypted } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, messageOf } from '../../../core/error.ts'
import type { Database } from '../database/pool.ts'
import type { Log, Throwable } from '../log/log.ts'
import { summary, throwable } from '../log/log.ts'

interface Integration {
  name: string
  url: string
  username: string | null
  password: string | null
}

type Exchange = { status: number; reason: string; durationMs: number } | { thrown: Throwable }

const okHttp = [
  'okhttp3.Dns$Companion$DnsSystem.lookup(Dns.kt:49)',
  'okhttp3.internal.connection.RouteSelector.resetNextInetSocketAddress(RouteSelector.kt:169)',
  'okhttp3.internal.connection.RealCall.execute(RealCall.kt:154)',
]

/** Returns the address for the log: without user, password and query. */
function shownUrl({ url }: Integration): string {
  return url.replace(/^([a-z]+:\/\/)[^@/]*@/i, '$1').replace(/[?#][^]*/, '')
}

/** Calls the external system once. Returns its answer, or the exception that OkHttp would throw. */
async function call(integration: Integration, timeoutMs: number, signal: AbortSignal): Promise<Exchange> {
  const since = Date.now()
  let url: URL
  try {
    url = new URL(integration.url)
  } catch {
    return {
      thrown: throwable(
        'java.lang.IllegalArgumentException',
        `Expected URL scheme 'http' or 'https' but no scheme was found for ${shownUrl(integration)}`,
        ['okhttp3.HttpUrl$Builder.parse$okhttp(HttpUrl.kt:1261)'],
      ),
    }
  }
  const authorization = basic(integration, url)
  url.username = ''
  url.password = ''
  try {
    await lookup(url.hostname.replace(/^\[|\]$/g, ''))
  } catch {
    return {
      thrown: throwable('java.net.UnknownHostException', url.hostname, [
        'java.base/java.net.InetAddress$CachedAddresses.get(InetAddress.java:801)',
        'java.base/java.net.InetAddress.getAllByName(InetAddress.java:1509)',
        ...okHttp,
      ]),
    }
  }
  try {
    const headers = { 'user-agent': 'okhttp/4.12.0', ...(authorization ? { authorization } : {}) }
    const { status, reason } = await get(url, headers, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
    return { status, reason, durationMs: Date.now() - since }
  } catch (error) {
    return { thrown: exceptionOf(error, url) }
  }
}

function get(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ status: number; reason: string }> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? encrypted : plain
    const asked = request(url, { headers, signal, agent: false }, (answer) => {
      answer.resume()
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, reason: answer.statusMessage ?? '' }))
    })
    asked.once('error', reject)
    asked.end()
  })
}

function basic({ username, password }: Integration, url: URL): string | null {
  const user = username ?? decodeURIComponent(url.username)
  if (!user) return null
  return `Basic ${Buffer.from(`${user}:${password ?? decodeURIComponent(url.password)}`).toString('base64')}`
}

function exceptionOf(error: unknown, url: URL): Throwable {
  const code = codeOf(error) ?? ''
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  if (code === 'ECONNREFUSED') {
    const refused = throwable('java.net.ConnectException', 'Connection refused', [
      'java.base/sun.nio.ch.Net.pollConnect(Native Method)',
    ])
    return throwable(
      'java.net.ConnectException',
      `Failed to connect to ${url.hostname}:${port}`,
      okHttp.slice(2),
      refused,
    )
  }
  // the only signal that matters here is the timeout's
  if (error instanceof Error && error.name === 'AbortError')
    return throwable('java.net.SocketTimeoutException', 'timeout', okHttp.slice(2))
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code))
    return throwable(
      'javax.net.ssl.SSLHandshakeException',
      'PKIX path building failed: unable to find valid certification path to requested target',
      okHttp.slice(2),
    )
  return throwable(
    'java.io.IOException',
    `unexpected end of stream on ${url.protocol}//${url.host}/... (${messageOf(error).split('\n')[0]})`,
    okHttp.slice(2),
  )
}

interface IntegrationPolling {
  stop(): Promise<void>
}

/**
 * Calls every integration in the table `integration`, then waits `everyMs` and repeats. Logs failures as errors. With
 * the integration logger at debug, it also logs each exchange like OkHttp's logging interceptor (SPEC.md 7).
 */
export function pollIntegrations(
  database: Database,
  everyMs: number,
  loggerPackage: string,
  log: Log,
): IntegrationPolling {
  const here = log.from('scheduling-1')
  const logger = `${loggerPackage}.integration.IntegrationConnectionService`
  const wire = `${loggerPackage}.integration.http.HttpLoggingInterceptor`
  const stopping = new AbortController()
  const { signal } = stopping

  const one = async (integration: Integration): Promise<void> => {
    const shown = shownUrl(integration)
    here.debug(wire, `--> GET ${shown}`)
    const exchange = await call(integration, 10_000, signal)
    if (signal.aborted) return
    if ('thrown' in exchange) {
      here.debug(wire, `<-- HTTP FAILED: ${summary(exchange.thrown)}`)
      here.error(logger, `Can't connect to integration '${integration.name}'`, exchange.thrown)
      return
    }
    const answer = `${exchange.status} ${exchange.reason}`.trim()
    here.debug(wire, `<-- ${answer} ${shown} (${exchange.durationMs}ms, unknown-length body)`)
    if (exchange.status >= 400)
      here.error(logger, `Integration '${integration.name}' answered ${answer} to GET ${shown}`)
  }
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const rows = await database.query<Integration>(
          'SELECT name, url, username, password FROM integration ORDER BY id',
        )
        // one after the other, as on one thread, so each log line belongs to the call before it
        for (const row of rows) await one(row)
      } catch {
        // the pool has already logged that the database is missing
        if (signal.aborted) break
      }
      await sleep(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }
  const running = loop()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
