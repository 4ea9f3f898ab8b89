import { currentTime } from '../../core/local-time.ts'
import type { AccessLogSource, LoggedRequest } from '../../core/sources.ts'
import { bytes, counted, listed, moment, span } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

/** Bytes of the access log that a check reads. */
const accessLogBytes = 4_000_000

/** Milliseconds of the log that are judged. What is older has been dealt with, or comes again. */
const recentMs = 24 * 3_600_000
const minuteMs = 60_000

/** What was read of the log, and the last day of it, both in the order of the log. */
export interface Day {
  all: readonly LoggedRequest[]
  requests: readonly LoggedRequest[]
  /** `the last 24 h`, or as much as could be read: `the last 5 h 12 min, its newest 4 MB` */
  span: string
  /** The log and that span, as messages show them */
  where: string
}

/** Returns the requests of the last day, or why there are none to judge. */
export async function lastDay(log: AccessLogSource): Promise<Day | { reason: string }> {
  const { requests, unread, complete } = await log.recent({ maxBytes: accessLogBytes })
  if (requests.length === 0) {
    const reason = unread > 0 ? 'has no line in a known format (common, combined or JSON)' : 'has no requests'
    return { reason: `${log.target} ${reason}` }
  }
  const now = currentTime()
  const recent = requests.filter(({ at }) => at === null || at.getTime() >= now - recentMs)
  const reach = reachOf(requests, complete, now)
  if (recent.length > 0) return { all: requests, requests: recent, span: reach, where: `${log.target} (${reach})` }
  return {
    reason:
      `${log.target} has no requests from the last 24 h: the newest request is from ` +
      `${moment(requests.at(-1)!.at!)}`,
  }
}

/**
 * Returns how much of the last day was read. A busy proxy writes more within a day than is read, and a rotated log
 * begins again: neither shows the whole day.
 */
function reachOf(requests: readonly LoggedRequest[], complete: boolean, now: number): string {
  const newest = `its newest ${bytes(accessLogBytes)}`
  const first = requests.find(({ at }) => at !== null)?.at?.getTime()
  if (first === undefined) return `${complete ? 'the whole log' : newest}, which has no readable times`
  if (first <= now - recentMs) return 'the last 24 h'
  return (
    `the last ${span(Math.max(1, Math.floor((now - first) / minuteMs)) * minuteMs)}, ` +
    `${complete ? 'the whole log' : newest}`
  )
}

/**
 * Returns a command that counts such lines, since the lines themselves may hold secrets; then the count, and what they
 * ask for.
 */
export function inAccessLog(
  { target }: AccessLogSource,
  day: Day,
  pattern: string,
  isCounted: (request: LoggedRequest) => boolean,
  requests: readonly LoggedRequest[],
): string[] {
  const count = day.all.filter(isCounted).length
  return [
    command`tail -c ${accessLogBytes} ${target} | grep -cE ${pattern}`,
    String(count),
    `in ${day.span}: ${asked(requests)}`,
  ]
}

/** Returns who sent a request: program and address. */
export function senderOf({ agent, client }: LoggedRequest): string {
  return `${agent ?? 'a program without a name'} at ${client}`
}

export function sameSender(requests: readonly LoggedRequest[]): (readonly LoggedRequest[])[] {
  return grouped(requests, senderOf)
}

/** Returns what was requested and answered, the most frequent first: `GET /api/project 200 (12), …`. */
function asked(requests: readonly LoggedRequest[]): string {
  const kinds = grouped(requests, ({ method, path, status }) => `${method} ${path} ${status}`)
  return listed(
    kinds
      .sort((a, b) => b.length - a.length)
      .map((same) => `${same[0]!.method} ${same[0]!.path} ${same[0]!.status} (${same.length})`),
    3,
  )
}

/** Returns a count with times: `1 request at 2026-11-21 02:12:44Z`, `3 requests, first …, last …`. */
export function over(requests: readonly LoggedRequest[], noun: string): string {
  const times = requests.flatMap(({ at }) => at ?? [])
  const [first, last] = [times[0], times.at(-1)].map((at) => at && moment(at))
  const when = first === undefined ? '' : first === last ? ` at ${last}` : `, first ${first}, last ${last}`
  return `${counted(requests.length, noun)}${when}`
}

function grouped(requests: readonly LoggedRequest[], nameOf: (request: LoggedRequest) => string): LoggedRequest[][] {
  const groups = new Map<string, LoggedRequest[]>()
  for (const request of requests) {
    const name = nameOf(request)
    const group = groups.get(name)
    if (group) group.push(request)
    else groups.set(name, [request])
  }
  return [...groups.values()]
}
