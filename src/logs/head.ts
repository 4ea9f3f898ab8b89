import { asUtc, localTimeReader, parseLocalTime } from '../core/local-time.ts'

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
