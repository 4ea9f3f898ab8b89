import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/pool.ts'
import type { Log } from '../log/log.ts'
import { summary } from '../log/throwable.ts'
import { call, shownUrl } from './exchange.ts'
import type { Integration } from './exchange.ts'

export interface IntegrationPolling {
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
