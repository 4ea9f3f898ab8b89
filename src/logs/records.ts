import { asUtc, localTimeReader, parseLocalTime } from '../core/local-time.ts'
import type { LogRecord } from '../core/sources.ts'

/** Both forms of FIELD-NOTES.md 1.4: a blank or a `T` between date and time, with or without an offset at the end. */
const start = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?(?=\s|$)/
const level = /^\s+\[?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b/

/** What the C library prints before the JVM runs: without a date, perhaps behind an earlier start (FIELD-NOTES.md 5). */
const fatal = /^Fatal glibc error\b/

/** Takes the lines of one log in their order. */
export interface RecordSplitter {
  /** the record before, where the line begins another one */
  add: (line: string) => LogRecord | null
  /** the record so far, which is over then */
  finish: () => LogRecord | null
}

/**
 * Splits a Spring Boot log into records. A line without a date continues the record before it; what comes before the
 * first record makes one of its own. Times without an offset are read in `timeZone`; null: they stay unknown.
 */
export function splitRecords(text: string, timeZone: string | null): LogRecord[] {
  const { add, finish } = recordSplitters(timeZone)()
  return [...text.split('\n').map(add), finish()].filter((it) => it !== null)
}

/** Makes splitters, one for each log. `maxLength`: characters, after which a record is over, and what goes on with it makes one of its own. */
export function recordSplitters(timeZone: string | null, maxLength = Infinity): () => RecordSplitter {
  const readLocal = timeZone === null ? null : localTimeReader(timeZone)
  return () => {
    let current: { at: Date | null; level: string | null; lines: string[]; length: number } | null = null
    const finish = (): LogRecord | null => {
      const whole = current?.lines.join('\n').trimEnd()
      const record = current && whole ? { at: current.at, level: current.level, text: whole } : null
      current = null
      return record
    }
    return {
      finish,
      add(raw) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
        const head = start.exec(line)
        if (current && !head && !fatal.test(line) && current.length + line.length <= maxLength) {
          current.lines.push(line)
          // an empty one takes its place, too
          current.length += line.length + 1
          return null
        }
        const before = finish()
        current = { at: head ? timeOf(head, readLocal) : null, level: head ? levelOf(line.slice(head[0].length)) : null, lines: [line], length: line.length }
        return before
      },
    }
  }
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
