import type { LogRecord, ServiceStatus } from '../../core/sources.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { moment } from '../../core/format.ts'
import type { Granted } from './time.ts'
import { sinceStart, startOf } from '../service.ts'

/** Milliseconds in a quarter of an hour, and between two zones at most: zones are whole quarters apart */
const quarterMs = 900_000
const apartMs = 26 * 4 * quarterMs
/** Milliseconds until what the service writes at its start is in the log, at most */
const lagMs = 60_000
/** Milliseconds between the row and the log record about it, at most */
const besideMs = 5000

/**
 * Returns what contradicts the time zone by which a lock was taken then; null if nothing at hand does. A wrong zone
 * goes unnoticed without a log, or if log and row lie by hours apart in the time of another zone.
 */
export function contradictionOf(
  { records, status }: { records: readonly LogRecord[]; status: ServiceStatus | null },
  granted: Granted,
  { clock, now }: { clock: { offsetMs: number; uncertaintyMs: number }; now: Date },
): string | null {
  const recent = sinceStart(records, status)
  const start = startOf(status)
  if (recent === null || start === null) return null
  const sinceMs = now.getTime() - clock.offsetMs - clock.uncertaintyMs - start.getTime()
  if (recent.every(({ at }) => at === null) && sinceMs > lagMs)
    return `the service's log would end before its start at ${moment(start)}`
  const taken = lastTaken(recent)
  if (taken === null) return null
  const apart = Math.abs(taken.getTime() + clock.offsetMs - granted.earliest.getTime())
  const quarters = Math.round(apart / quarterMs) * quarterMs
  if (quarters === 0 || quarters > apartMs || Math.abs(apart - quarters) > besideMs + clock.uncertaintyMs) return null
  return `the service's log shows it taken at ${moment(taken)}`
}

/** Returns when the service took the lock that it has not released since, by its log; otherwise null. */
function lastTaken(records: readonly LogRecord[]): Date | null {
  const { lockTaken, lockReleased } = logSignatures
  const last = records.findLast(({ text }) => lockTaken.test(text) || lockReleased.test(text))
  return last !== undefined && lockTaken.test(last.text) ? last.at : null
}
