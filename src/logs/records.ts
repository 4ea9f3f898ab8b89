import type { LogRecord } from '../core/sources.ts'
import { headReader, jsonHead } from './head.ts'
import type { RecordHead } from './head.ts'

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
