import type { LoggedRequest } from '../core/sources.ts'
import { apiUse } from '../knowledge/api.ts'

/** Characters that are read of a line. */
const longest = 16_000

/** The common and the combined format up to the status. What a proxy puts before the address stays with it. */
const common = /^([^[]{1,400})\[([^\]]{20,40})\] "((?:[^"\\]|\\.)*)" (\d{3}) \S+(?!\S)(.*)$/
const quoted = /"((?:[^"\\]|\\[^])*)(?:"|\\?$)/g
const clockTime = /^(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})$/
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const scheme = new RegExp(String.raw`(?:^|\s)(${apiUse.bearer}|${apiUse.apiToken}|basic|digest|negotiate)(?=\s|$)`, 'i')

/**
 * Reads lines of the common or the combined format, also with more fields at their end, and JSON, one object a line.
 * `unread` counts the other lines.
 */
export function readAccessLog(text: string): { requests: LoggedRequest[]; unread: number } {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const requests = lines.flatMap((line) => requestIn(line.slice(0, longest)) ?? [])
  return { requests, unread: lines.length - requests.length }
}

function requestIn(line: string): LoggedRequest | null {
  return line.startsWith('{') ? fromJson(line) : fromText(line)
}

function fromText(line: string): LoggedRequest | null {
  const [, before, time, request, status, rest] = common.exec(line) ?? []
  const asked = requestLine(request ?? '')
  if (before === undefined || !asked) return null
  const [, agent, ...others] = [...rest!.matchAll(quoted)].map((match) => match[1]!)
  return {
    at: timeOf(time!),
    client: clientIn(before),
    agent: agentOf(agent),
    ...asked,
    status: Number(status),
    scheme: schemeIn([rest!.replaceAll(quoted, ' '), ...others]),
  }
}

/**
 * Names of the same thing in the formats of nginx (which the operator names), Traefik and Caddy (whose `request` is an
 * object).
 */
const keys = {
  time: ['time_iso8601', 'time_local', '@timestamp', 'timestamp', 'time', 'StartUTC', 'ts', 'msec'],
  client: ['remote_addr', 'client_ip', 'remote_ip', 'ClientHost', 'client', 'clientip'],
  agent: ['http_user_agent', 'user_agent', 'request_User-Agent', 'agent'],
  method: ['request_method', 'RequestMethod', 'method'],
  path: ['request_uri', 'RequestPath', 'uri', 'path'],
  status: ['status', 'DownstreamStatus', 'response_status', 'status_code'],
} as const

function fromJson(line: string): LoggedRequest | null {
  const fields = fieldsOf(line)
  const text = (names: readonly string[]): string | null => {
    const value = names.map((name) => fields?.[name]).find((it) => typeof it === 'string' || typeof it === 'number')
    return value === undefined ? null : String(value)
  }
  const status = text(keys.status)
  const asked = requestLine(text(['request']) ?? `${text(keys.method) ?? ''} ${text(keys.path) ?? ''}`)
  if (!fields || status === null || !/^\d{3}$/.test(status) || !asked) return null
  const authorization = Object.entries(fields).flatMap(([name, value]) =>
    /auth/i.test(name) && typeof value === 'string' ? value : [],
  )
  return {
    at: timeOf(text(keys.time) ?? ''),
    client: clientIn(text(keys.client) ?? ''),
    agent: agentOf(text(keys.agent) ?? undefined),
    ...asked,
    status: Number(status),
    scheme: schemeIn(authorization),
  }
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(line) as Record<string, unknown>
    const { request } = value
    return typeof request === 'object' && request !== null ? { ...value, ...request, request: undefined } : value
  } catch {
    return null
  }
}

/** Reads `GET /path?query HTTP/1.1`; null for anything else, such as a port scan or a client that said nothing. */
function requestLine(text: string): { method: string; path: string } | null {
  const [, method, target] = /^([A-Z]{3,10}) (\S+)/.exec(text) ?? []
  return method === undefined ? null : { method, path: shownPath(target!) }
}

/** Removes origin and query, which may hold passwords and tokens, and what looks like a token in the path itself. */
function shownPath(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#;]/)
  const segments = printable(path)
    .split('/')
    .map((segment) => (isSecret(segment) ? '…' : segment))
  return (segments.join('/') || '/').slice(0, 200)
}

/** Returns the first product that a program names, such as `curl/8.5.0`; null if there is none. */
function agentOf(text: string | undefined): string | null {
  const [product] = /^[\w.+-]{1,40}(?:\/[\w.+-]{1,30})?/.exec(text ?? '') ?? []
  return product === undefined || product === '-' || isSecret(product) ? null : product
}

function isSecret(text: string): boolean {
  return text.length >= 20 && /\d/.test(text) && !text.includes('/')
}

/** Returns the client's address. It may stand among others: the requested host, addresses of proxies further out. */
function clientIn(before: string): string {
  const words = before.trim().split(/[\s,]+/)
  const address = words.find((word) => /^\d{1,3}(\.\d{1,3}){3}$/.test(word) || /^[0-9a-f]*:[0-9a-f:.]+$/i.test(word))
  return printable(address ?? words[0] ?? '').slice(0, 100) || 'an unknown address'
}

function schemeIn(fields: readonly string[]): string | null {
  const found = fields.flatMap((field) => scheme.exec(field)?.[1] ?? [])
  return found[0]?.toLowerCase() ?? null
}

function timeOf(text: string): Date | null {
  const parts = clockTime.exec(text.trim())
  if (parts) {
    const [, day, month, year, hour, minute, second, sign, hours, minutes] = parts
    const local = Date.UTC(
      Number(year),
      months.indexOf(month!),
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    )
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
    return months.includes(month!) ? dated(local - (sign === '-' ? -offset : offset)) : null
  }
  // seconds since 1970, as nginx and Caddy write them, or milliseconds
  if (/^\d{9,10}(\.\d+)?$/.test(text)) return dated(Number(text) * 1000)
  if (/^\d{12,13}$/.test(text)) return dated(Number(text))
  return /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) ? dated(Date.parse(text)) : null
}

function dated(epochMs: number): Date | null {
  return Number.isNaN(epochMs) ? null : new Date(Math.trunc(epochMs))
}

/** Keeps printable ASCII only: what a client sends must not steer a reader's terminal. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
