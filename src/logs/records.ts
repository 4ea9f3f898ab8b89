import { asUtc, localTimeReader, parseLocalTime } from '../core/local-time.ts'
import type { LogRecord } from '../core/sources.ts'

/** Both forms of FIELD-NOTES.md 1.4: a blank or a `T` between date and time, with or without an offset at the end. */
const start = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?(?=\s|$)/
const level = /^\s+\[?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b/

/** What the C library prints before the JVM runs: without a date, perhaps behind an earlier start (FIELD-NOTES.md 5). */
const fatal = /^Fatal glibc error\b/

/** What the first line of a record begins with. */
export interface RecordHead {
  /** null where it bears no date that can be read */
  at: Date | null
  /** characters of the date */
  length: number
}

/** Reads how a line begins; null: it goes on with the record before it. Times without an offset are read in `timeZone`; null: they stay unknown. */
export function headReader(timeZone: string | null): (line: string) => RecordHead | null {
  const readLocal = timeZone === null ? null : localTimeReader(timeZone)
  return (line) => {
    const head = start.exec(line)
    if (head) return { at: timeOf(head, readLocal), length: head[0].length }
    return fatal.test(line) ? { at: null, length: 0 } : null
  }
}

/**
 * Splits a Spring Boot log into records. A line without a date continues the record before it; what comes before the
 * first record makes one of its own. Times without an offset are read in `timeZone`; null: they stay unknown.
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
    const head = headOf(line)
    if (current && !head) current.lines.push(line)
    else {
      finish()
      current = { at: head?.at ?? null, level: head && head.length > 0 ? levelOf(line.slice(head.length)) : null, lines: [line] }
    }
  }
  finish()
  return records
}

function levelOf(rest: string): string | null {
  return level.exec(rest)?.[1] ?? null
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
