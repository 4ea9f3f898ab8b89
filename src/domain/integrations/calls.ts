import { currentTime } from '../../core/local-time.ts'
import type { Outcome, Remedy, Severity, Wanted } from '../../core/check.ts'
import type { LogsSource, RecentRecords, ServiceSource } from '../../core/sources.ts'
import { loggedCalls } from '../../knowledge/log-signatures.ts'
import type { LoggedCall } from '../../knowledge/log-signatures.ts'
import { asFarAsRead, grepLog } from '../evidence.ts'
import { firstLine, timesOf } from '../../core/format.ts'
import { masked } from '../last-words.ts'
import { startOf } from '../service.ts'
import { logBytes } from '../../core/sources/logs.ts'
import { had, tolerant } from '../wanted.ts'

/** Milliseconds for which a problem counts as current. */
export const recentMs = 15 * 60_000

/** The calls to one external system that went wrong, oldest first. */
export interface Trouble {
  /** Null if the log does not name it */
  host: string | null
  calls: readonly LoggedCall[]
  last: LoggedCall
  severity: Severity
}

export interface Calls {
  troubles: readonly Trouble[]
  /** Number of failed calls in the log, including those that are over */
  told: number
  log: RecentRecords
  /** Returns a line of the log without its secrets */
  shown: (line: string) => string
}

/**
 * Finds failed calls in the newest part of the log, by host. A failure is over if the same address has answered well
 * since. After a quarter of an hour, it is also over if the host has answered well since, or if the service was
 * restarted.
 */
export async function troubledCalls(
  { logs, service }: { logs: LogsSource; service: Wanted<ServiceSource> },
  isTrouble: (call: LoggedCall) => boolean,
): Promise<Calls> {
  const platform = had(service)
  const [log, status, environment] = await Promise.all([
    logs.recent({ maxBytes: logBytes }),
    platform && tolerant(platform.status()),
    platform && tolerant(platform.environment()),
  ])
  const calls = loggedCalls(log.records)
  const [wellAt, wellHost] = [lastWell(calls, ({ url }) => url), lastWell(calls, ({ host }) => host)]
  const bad = calls.map((call, index) => ({ call, index })).filter(({ call }) => isTrouble(call))
  const left = bad.filter(({ call: { url }, index }) => url === null || (wellAt.get(url) ?? -1) < index)
  const start = startOf(status)
  const troubles = [...byHost(left)].flatMap(([host, own]) => {
    const { call: last, index } = own.at(-1)!
    const severity = severityOf(last, { start, isWellSince: host !== null && (wellHost.get(host) ?? -1) > index })
    return severity === null ? [] : [{ host, calls: own.map(({ call }) => call), last, severity }]
  })
  const shown = (line: string): string => firstLine(masked(withoutQueries(line), environment), 300)
  return { troubles, told: bad.length, log, shown }
}

/** Returns a line without the queries of its addresses, which may contain keys. */
export function withoutQueries(line: string): string {
  return line.replace(/(https?:\/\/[^\s?#]*)(?:[?#][^\s"]*)?/g, '$1')
}

/** Groups calls by host, in the order of the log. */
function byHost<T extends { call: LoggedCall }>(calls: readonly T[]): Map<string | null, T[]> {
  const hosts = new Map<string | null, T[]>()
  for (const it of calls) {
    const own = hosts.get(it.call.host)
    if (own) own.push(it)
    else hosts.set(it.call.host, [it])
  }
  return hosts
}

/** Returns the severity of a failed call; null if it is over. */
function severityOf(
  { at, host }: LoggedCall,
  { start, isWellSince }: { start: Date | null; isWellSince: boolean },
): Severity | null {
  const isRecent = at !== null && currentTime() - at.getTime() <= recentMs
  const isHistory = at !== null && start !== null && at < start
  if (isRecent) return isHistory || host === null ? 'warning' : 'error'
  return isHistory || isWellSince ? null : 'warning'
}

/** Returns the position of the last call that was answered well, for each place that `to` returns. */
function lastWell(calls: readonly LoggedCall[], to: (call: LoggedCall) => string | null): ReadonlyMap<string, number> {
  const isWell = ({ status }: LoggedCall): boolean => status !== null && status < 400
  return new Map(
    calls.flatMap((call, index) => {
      const place = to(call)
      return place !== null && isWell(call) ? [[place, index] as const] : []
    }),
  )
}

/** Returns the outcome of a check of calls. `none`, `over`: details if there were no such calls, or if all are over. */
export function outcomeOf(
  { troubles, told, log, shown }: Calls,
  logs: LogsSource,
  { none, over, said, remedy }: { none: string; over: string; said: (trouble: Trouble) => string; remedy: Remedy },
): Outcome {
  const findings = troubles.map((trouble) => ({
    message: `${said(trouble)}; ${timesOf(trouble.calls)}`,
    evidence: evidenceOf(trouble, logs, shown),
  }))
  const [first, ...others] = findings
  if (!first) return asFarAsRead({ status: 'ok', detail: told === 0 ? none : over }, log)
  const severity = troubles.some((trouble) => trouble.severity === 'error') ? 'error' : 'warning'
  return asFarAsRead({ status: 'problem', severity, findings: [first, ...others], remedy }, log)
}

/** Returns the newest log line that shows the failure, and the command that finds it. */
function evidenceOf({ last }: Trouble, logs: LogsSource, shown: (line: string) => string): string[] {
  const telling = /<-- (?:HTTP FAILED|\d{3})|400 bad request/i.exec(last.line)?.[0] ?? last.line
  return [grepLog(logs, telling), shown(last.line)]
}
