import { isTimeZone, localTimeReader, parseLocalTime } from '../../core/local-time.ts'
import type { ChangelogLockRow, DatabaseSource, ServiceSource } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { psql, settingLines } from '../evidence.ts'
import { counted, firstLine, listed, moment } from '../../core/format.ts'
import { describeSession } from './sessions.ts'
import type { LockSituation, Surroundings } from './situation.ts'
import { sinceStart } from '../service.ts'

/**
 * Returns what else a person can look at to see whether the holder of the lock lives: sessions, the service, its log.
 * `user`: the database user of the query; another may see more or less.
 */
export function lockEvidence(
  database: DatabaseSource,
  situation: LockSituation,
  around: Surroundings,
  service: ServiceSource | null,
  user: string | null,
): string[] {
  const { backends, hidden, now, databaseStartedAt } = situation
  const busy = backends?.filter(({ state }) => state !== null && state !== 'idle') ?? []
  const sessions =
    backends === null
      ? ['(this user may not see all sessions)']
      : busy.length > 0
        ? busy.slice(0, 3).map((session) => describeSession(session, now))
        : [`(none of ${backends.length} at work)`]
  const sql =
    "SELECT pid, state, backend_start, query_start, query FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
  const records = sinceStart(around.records, around.status) ?? around.records
  const waiting = records.findLast(
    ({ text }) => logSignatures.lockRefused.test(text) || logSignatures.lockWaiting.test(text),
  )
  return [
    psql(database.target, user, sql),
    ...sessions,
    ...(backends !== null && hidden.length > 0
      ? [
          `(hidden from this user: what ${counted(hidden.length, 'session')} of other users ${hidden.length === 1 ? 'runs' : 'run'})`,
        ]
      : []),
    psql(database.target, user, 'SELECT pg_postmaster_start_time()'),
    moment(databaseStartedAt),
    ...(service && around.status ? [service.commands.status, serviceLine(around)] : []),
    ...(service && waiting ? [service.commands.logs, firstLine(waiting.text)] : []),
  ]
}

/**
 * Returns both time zones if the configuration and the service's own settings name ones that put the lock at different
 * moments: its age depends on them. If the service's zone puts the lock in the future, only the configuration's counts.
 */
export function zoneEvidence(
  { lockGranted }: ChangelogLockRow,
  { granted }: LockSituation,
  { timeZone, ownTimeZone }: Surroundings,
  service: ServiceSource | null,
): string[] {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  if (!local || !service || timeZone === null || ownTimeZone === null) return []
  if (!isTimeZone(timeZone) || !isTimeZone(ownTimeZone.zone)) return []
  const [configured, own] = [timeZone, ownTimeZone.zone].map((zone) => localTimeReader(zone)(local))
  if (configured!.getTime() === own!.getTime()) return []
  return [
    ...settingLines(service, ownTimeZone.setting, ownTimeZone.shown),
    `the configuration's timeZone is ${timeZone}, and ${granted?.isAgreed === false ? 'one of the two is wrong' : 'it counts'}: ${changelogLock.columns.granted} is ${moment(configured!)} in ${timeZone}, ${moment(own!)} in ${ownTimeZone.zone}`,
  ]
}

function serviceLine({ status }: Surroundings): string {
  const starts =
    status?.instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name)) ?? []
  return [status?.detail ?? '', ...(starts.length > 0 ? [listed(starts)] : [])].join('; ')
}
