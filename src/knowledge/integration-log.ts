import { withoutSecrets } from '../core/redaction/index.ts'
import type { LogRecord } from '../core/sources.ts'
import { patternOf } from './signatures.ts'

/**
 * A call to an external system, as the service's log shows it. SPEC.md 7 names `HTTP FAILED`, `400 bad request` and
 * `UnknownHostException`. OkHttp's HttpLoggingInterceptor writes the first if no answer came, so its other lines are
 * read too: `--> GET URL`, `<-- 401 Unauthorized URL (12ms, 0-byte body)`. Over HTTP/2 an answer has no words beside
 * its number, and since OkHttp 5 a failure names its address.
 */
export interface LoggedCall {
  at: Date | null
  /** Without user, password, query and fragment, and without a path that contains a key; null if the log names none */
  url: string | null
  /** With its port, if the address names one; null if the log names none */
  host: string | null
  /** Null if no answer came */
  status: number | null
  /** The exception, if no answer came */
  failure: string | null
  /** The line that shows it */
  line: string
}

/** Most records show no call, and are not searched line by line */
const hint = /--> |<-- |400 bad request/i
const asked = /--> [A-Z]+ (https?:\/\/\S+)/
const answered = /<-- (\d{3})(?: (?:(?!<-- )[^\n])*?)? (https?:\/\/\S+) \(\d+ms/
const failed = /<-- HTTP FAILED: ([^\n]*)/
const badRequest = patternOf('bad-request')
const address = /https?:\/\/[^\s"'<>)\]]+/
const thread = /---\s+((?:\[[^\]\n]{0,200}\]\s*)+)/
/** A call that the service itself gave up says nothing of the other side */
const cancelled = /\bCanceled\b/

/** Returns calls, oldest first like the records. What OkHttp says of a host replaces other lines that say the same. */
export function loggedCalls(records: readonly LogRecord[]): LoggedCall[] {
  const calls: (LoggedCall & { isOkHttp: boolean })[] = []
  const pending = new Map<string, string>()
  for (const { at, text } of records) {
    if (!hint.test(text)) continue
    const on = thread.exec(text)?.[1]?.trim() ?? ''
    for (const line of text.split('\n')) {
      const question = asked.exec(line)?.[1]
      if (question !== undefined) pending.set(on, question)
      const call = callIn(line, pending.get(on))
      if (call) calls.push({ at, line: line.trim(), ...call })
      if (call?.isOkHttp) pending.delete(on)
    }
  }
  const told = new Set(calls.flatMap(({ isOkHttp, status, host }) => (isOkHttp && status === 400 ? [host] : [])))
  return calls.filter(({ isOkHttp, host }) => isOkHttp || !told.has(host)).map(({ isOkHttp: _, ...call }) => call)
}

function callIn(
  line: string,
  question: string | undefined,
): (Omit<LoggedCall, 'at' | 'line'> & { isOkHttp: boolean }) | null {
  const answer = answered.exec(line)
  if (answer) return { ...placed(answer[2]), status: Number(answer[1]), failure: null, isOkHttp: true }
  const failure = failed.exec(line)?.[1]
  if (failure !== undefined) {
    if (cancelled.test(failure)) return null
    const place = placed(address.exec(failure)?.[0] ?? question)
    return { ...place, host: place.host ?? hostIn(failure), status: null, failure, isOkHttp: true }
  }
  return badRequest.test(line)
    ? { ...placed(address.exec(line)?.[0]), status: 400, failure: null, isOkHttp: false }
    : null
}

function placed(found: string | undefined): Pick<LoggedCall, 'url' | 'host'> {
  const bare = found?.replace(/(?<![.,;])[.,;]+$/, '') ?? ''
  if (!URL.canParse(bare)) return { url: null, host: null }
  const { protocol, host, pathname } = new URL(bare)
  const url = `${protocol}//${host}${pathname}`
  // such a path signs in by itself: neither shown nor called
  return { url: withoutSecrets(url) === url ? url : `${protocol}//${host}/`, host }
}

/** Returns the host in `UnknownHostException: HOST` or `Failed to connect to HOST/10.0.0.7:443`; otherwise null. */
function hostIn(failure: string): string | null {
  const found = /UnknownHostException:\s*([^\s:,;()]+)|Failed to connect to ([^\s/:]+|\[[^\]]*\])/.exec(failure)
  return (found?.[1] ?? found?.[2])?.toLowerCase() ?? null
}
