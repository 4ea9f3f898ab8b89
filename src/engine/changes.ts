import type { CheckReport, DeploymentEvent, DoctorReport } from '../core/check.ts'
import { currentTime } from '../core/local-time.ts'
import { AdminError, messageOf } from '../core/error.ts'
import { runState } from '../core/run-state.ts'
import type { RunState } from '../core/run-state.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { LogRecord, PlatformChanges } from '../core/sources.ts'
import { isLogAhead, logBytes } from '../core/sources/logs.ts'
import { logSignatures } from '../knowledge/log-signatures.ts'
import { signatures } from '../knowledge/signatures.ts'
import { withDeadline } from './judge.ts'
import type { ShareSource } from './judge.ts'

/** Milliseconds before a problem's first sign in which a change may be its cause */
const beforeMs = 86_400_000
/** Maximum number of events that are kept; the newest */
const mostEvents = 1000

/** What the deployment's parts know of the past, and what could not be asked. */
export interface Past {
  /** Oldest first */
  events: readonly DeploymentEvent[]
  records: readonly LogRecord[]
  unseen: readonly string[]
}

/**
 * Asks the platform, the journals of repairs and the log what happened. Each has `waitMs` milliseconds. Throws
 * INTERRUPTED.
 */
export async function readPast(
  share: ShareSource,
  { waitMs, filled }: { waitMs: number; filled: (command: Suggestion) => Suggestion },
): Promise<Past> {
  const unseen: string[] = []
  const seen = async <T>(what: string, asked: () => Promise<T>, otherwise: T): Promise<T> => {
    const late = (): AdminError => new AdminError('TIMED_OUT', `${what} timed out`)
    return withDeadline(asked(), waitMs, late).catch((error: unknown) => {
      if (error instanceof AdminError && error.code === 'INTERRUPTED') throw error
      // a part that the deployment does not have keeps nothing to see; and a bug here must not cost the diagnosis
      if (!(error instanceof AdminError && error.code === 'NOT_CONFIGURED')) unseen.push(messageOf(error))
      return otherwise
    })
  }
  const opened = async <K extends 'service' | 'runs' | 'logs'>(name: K) => {
    const opening = await share(name)
    if ('error' in opening) throw opening.error
    return opening.source
  }
  const nothing: PlatformChanges = { changes: [], unseen: [] }
  const [platform, here, there, log] = await Promise.all([
    seen('the platform', async () => (await (await opened('service')).changes?.()) ?? nothing, nothing),
    seen('the records of repairs', async () => (await opened('runs')).list(), []),
    seen("the deployment's records of repairs", async () => (await opened('runs')).inDeployment(), []),
    seen('the log', async () => (await opened('logs')).recent({ maxBytes: logBytes }), null),
  ])
  const records = log === null || isLogAhead(log.records) ? [] : log.records
  const changes = platform.changes.flatMap(({ at, ...rest }): DeploymentEvent[] =>
    Number.isNaN(at.getTime()) ? [] : [{ at: at.toISOString(), ...rest }],
  )
  const events = [
    ...changes,
    ...repairsIn([...there.flatMap((it) => ('record' in it ? [runState(it)] : [])), ...here]),
    ...logged(records),
  ]
  return {
    events: events
      .map(({ proof, ...rest }) => ({ ...rest, ...(proof !== undefined && { proof: filled(proof) }) }))
      .sort(byTime)
      .slice(-mostEvents),
    records,
    unseen: [...new Set([...platform.unseen, ...unseen])],
  }
}

const byTime = (one: DeploymentEvent, other: DeploymentEvent): number =>
  one.at < other.at ? -1 : one.at > other.at ? 1 : 0

/** Returns the repairs that changed something: a copy in the deployment is the same run again. */
function repairsIn(all: readonly RunState[]): DeploymentEvent[] {
  const runs = new Map(all.map((it) => [it.run, it]))
  return [...runs.values()].flatMap(({ run, repair, by, startedAt, state, done, within }): DeploymentEvent[] =>
    done > 0 || within !== null || state === 'undone'
      ? [
          {
            at: startedAt,
            kind: 'repair',
            message: `${by} ran \`${repair}\` (${state})`,
            proof: command`testops-admin history -d {deployment}   # run ${run}`,
          },
        ]
      : [],
  )
}

/** Counts the records of each known fault by minute. */
function logged(records: readonly LogRecord[]): DeploymentEvent[] {
  const counts = new Map<string, { at: string; title: string; count: number }>()
  for (const { at, text } of records) {
    if (at === null) continue
    for (const { id, title, pattern, severity } of signatures) {
      if (severity === 'info' || !pattern.test(text)) continue
      const minute = `${at.toISOString().slice(0, 16)}:00.000Z`
      const known = counts.get(`${minute} ${id}`)
      if (known) known.count += 1
      else counts.set(`${minute} ${id}`, { at: minute, title, count: 1 })
    }
  }
  return [...counts.values()].map(({ at, title, count }) => ({ at, kind: 'log', message: title, count }))
}

/**
 * Adds to a report what happened, and to each root cause its first sign and what changed in the 24 hours before. Where
 * nothing shows a first sign, the 24 hours before the diagnosis count. `since`: first signs that checks found, by id.
 */
export function withPast<R extends Omit<DoctorReport, 'build'>>(
  report: R,
  { events, records, unseen }: Past,
  since: ReadonlyMap<string, Date>,
): R {
  const to = currentTime()
  const checks = report.checks.map((check): CheckReport => {
    if (!report.rootCauses.includes(check.id)) return check
    // the log may still tell of the time before, which is over
    const began = since.get(check.id)?.toISOString() ?? firstLogged(check.id, records, to)
    const end = began === undefined ? to : Date.parse(began)
    return {
      ...check,
      ...(began !== undefined && { began }),
      changes: events.filter(({ at, kind }) => {
        if (kind === 'log' || kind === 'lock') return false
        const ms = Date.parse(at)
        // an end at that instant is the sign itself, and no cause of it
        return ms >= end - beforeMs && (ms < end || (ms === end && kind !== 'restart'))
      }),
    }
  })
  const starts = checks.flatMap(({ began }) => (began === undefined ? [] : [Date.parse(began)]))
  const from = Math.min(to, ...starts) - beforeMs
  const taken = since.get('database/changelog-lock')?.toISOString()
  const locks: DeploymentEvent[] =
    taken === undefined ? [] : [{ at: taken, kind: 'lock', message: 'the change-log lock was taken' }]
  const list = [...events, ...locks].filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to)
  return {
    ...report,
    checks,
    events: {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      list: list.sort(byTime),
      unseen,
    },
  }
}

/**
 * Returns when the log first shows what a check is about: from the newest record of it back, as long as no two are a
 * day apart, and nothing between them says that it was over.
 */
function firstLogged(check: string, records: readonly LogRecord[], now: number): string | undefined {
  const own = signatures.filter((it) => it.check === check && it.severity !== 'info')
  if (own.length === 0) return undefined
  let first = now
  for (const { at, text } of records.toReversed()) {
    if (check === 'database/changelog-lock' && logSignatures.lockReleased.test(text)) break
    if (at === null || !own.some(({ pattern }) => pattern.test(text))) continue
    if (first - at.getTime() > beforeMs) break
    first = Math.min(first, at.getTime())
  }
  return first === now ? undefined : new Date(first).toISOString()
}
