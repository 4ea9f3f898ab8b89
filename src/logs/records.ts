import type { LogRecord } from '../core/sources.ts'
import { asUtc, localTimeReader, parseLocalTime } from '../core/local-time.ts'

const level = /^\s+\[?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b/
/** Characters of a JSON object that are searched for its time */
const longestHead = 4096
/** The level in a JSON object, by the names that encoders of Logback and Log4j, Spring Boot and collectors use */
const jsonLevel = /"(?:level|log\.level|_level_name|severity)"\s*:\s*"(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)/

/**
 * Splits a Spring Boot log into records; a JSON object with a time is one. A line without a date continues the record
 * before it; lines before the first record form one of their own. Times without an offset are read in `timeZone`; if
 * that is null, they stay unknown.
 */
export function splitRecords(text: string, timeZone: string | null): LogRecord[] {
  const headOf = headReader(timeZone)
  const records: LogRecord[] = []
  let current: { at: Date | null; level: string | null; lines: string[] } | null = null
  const finish = (): void => {
    const whole = current?.lines.join('\n').trimEnd()
    if (current && whole) records.push({ at: current.at, level: current.level, text: whole })
  }
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    const begun = beginning(line, headOf)
    if (current && !begun) current.lines.push(line)
    else {
      finish()
      current = { at: null, level: null, ...begun, lines: [line] }
    }
  }
  finish()
  return records
}

/** Returns the head of a record; null if the line continues the record before it. */
function beginning(line: string, headOf: (line: string) => RecordHead | null): Pick<LogRecord, 'at' | 'level'> | null {
  const json = line.startsWith('{') ? jsonHead(line.slice(0, longestHead), headOf) : null
  if (json && json.length > 0) return { at: json.at, level: jsonLevel.exec(line)?.[1] ?? null }
  const head = headOf(line)
  return head && { at: head.at, level: head.length > 0 ? (level.exec(line.slice(head.length))?.[1] ?? null) : null }
}

/**
 * Both date forms of FIELD-NOTES.md 1.4: a blank or a `T` between date and time, with or without an offset at the end.
 */
const start = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?(?=\s|$)/

/** What the C library prints before the JVM runs: without a date, perhaps after an earlier start (FIELD-NOTES.md 5). */
const fatal = /^Fatal glibc error\b/

/** The beginning of a record's first line. */
export interface RecordHead {
  /** Null if it has no readable date */
  at: Date | null
  /** Characters of the date */
  length: number
}

/**
 * Returns a reader of how a line begins, which returns null for a line that continues the record before it. Times
 * without an offset are read in `timeZone`; if that is null, they stay unknown.
 */
export function headReader(timeZone: string | null): (line: string) => RecordHead | null {
  const readLocal = timeZone === null ? null : localTimeReader(timeZone)
  return (line) => {
    const head = start.exec(line)
    if (head) return { at: timeOf(head, readLocal), length: head[0].length }
    return fatal.test(line) ? { at: null, length: 0 } : null
  }
}

function timeOf(head: RegExpExecArray, readLocal: ReturnType<typeof localTimeReader> | null): Date | null {
  const time = parseLocalTime(head[0])
  if (!time) return null
  const zone = head[1]
  if (zone === undefined) return readLocal ? readLocal(time) : null
  if (zone === 'Z') return asUtc(time)
  const sign = zone.startsWith('-') ? -1 : 1
  const minutes = sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2)))
  return new Date(asUtc(time).getTime() - minutes * 60_000)
}

/**
 * Keys under which encoders write the time of a record: Logback's own, logstash-logback-encoder and Spring Boot (`ecs`,
 * `gelf`, `logstash`); Log4j (`instant` holds `epochSecond`; `timeMillis`, GcpLayout); collectors (`ts`, `date`);
 * `journalctl -o json`.
 */
const time = new RegExp(
  '(?<!\\\\)"(@timestamp|timestamp|time|timeMillis|epochSecond|timestampSeconds|ts|date|__REALTIME_TIMESTAMP)"' +
    String.raw`\s*:\s*(?:"([^"]{1,60})"|(\d[\d.E]{9,24})(?=\s*[,}]))`,
  'g',
)
/** Seconds since 1970, perhaps as Java prints a double; then milli-, micro- and nanoseconds */
const seconds = /^(?:\d{10}(?:\.\d{1,9})?|\d\.\d{1,15}E9)$/
const fine = /^(?:\d{13}(?:\.\d{1,6})?|\d{16}|\d{19})$/
/** `ZonedDateTime` adds its zone to the offset */
const zone = /\[[^[\]]*\]$/

/** Reads the time of a JSON object, which may be cut; null if it shows none. `headOf` reads dates. */
export function jsonHead(text: string, headOf: (line: string) => RecordHead | null): RecordHead | null {
  const found = [...text.matchAll(time)].map(([, key, written, number]) => ({
    key,
    at: momentOf(written ?? number!, headOf),
  }))
  const known = found.filter(({ at }) => at !== undefined)
  const [first] = [...known.filter(({ key }) => key === '@timestamp'), ...known]
  if (first) return { at: first.at ?? null, length: 1 }
  return found.length === 0 ? null : { at: null, length: 0 }
}

/** Returns a moment; undefined if the text is no time, null if its zone is unknown. */
function momentOf(written: string, headOf: (line: string) => RecordHead | null): Date | null | undefined {
  if (seconds.test(written)) return new Date(Math.floor(Number(written) * 1000))
  if (fine.test(written))
    return new Date(Math.floor(Number(written) / 10 ** (Math.floor(Number(written)).toString().length - 13)))
  return headOf(written.replace(zone, ''))?.at
}
