import type { Deployment, PlatformName } from './deployment.ts'
import type { AdminError, ErrorCode } from './error.ts'
import type { Suggestion } from './shell-command.ts'
import type { SourceName, Sources } from './sources.ts'

export type Severity = 'error' | 'warning'

export interface Finding {
  message: string
  /** What a person can check with `psql`, `rabbitmqctl`, `redis-cli` or `curl`: the command, then what it showed */
  evidence: readonly string[]
}

/**
 * What the operator does about a problem. Here, in the reason of a skipped check and in an error's suggestions,
 * `{deployment}` stands for the deployment's name. `{start}`, `{stop}`, `{restart}`, `{status}`, `{logs}`,
 * `{processes}`, `{settings}` and `{edit}` stand for what to type on its platform.
 */
export interface Remedy {
  text: string
  commands: readonly Suggestion[]
  /** What it costs or endangers */
  risk?: string
  undo?: Suggestion
  /** The right for this repair that this user lacks; absent: none, or it could not be asked */
  lacks?: string
  /** What to type about that right */
  grant?: readonly Suggestion[]
}

export type Outcome =
  | {
      status: 'ok'
      detail: string
      /** Something legitimate is under way, which explains problems of the checks in `explains`: they become skipped */
      underway?: string
    }
  | {
      status: 'problem'
      severity: Severity
      findings: readonly [Finding, ...Finding[]]
      /** Replaces the check's own remedy if the situation needs another */
      remedy?: Remedy
      /**
       * Id of a check. If it has an error, that error causes this problem; if something removed by hand explains that
       * error, it is the cause instead. This problem then explains no others
       */
      follows?: string
      /** True if every repair is refused until this problem is gone */
      blocksRepairs?: boolean
      /** True if it has a cause of its own: no other problem causes it */
      isApart?: boolean
      /** The earliest sign of it; absent: not known */
      since?: Date
    }
  | { status: 'skipped'; reason: string; suppressed?: Suppressed }

/**
 * Only the runner sets `unknown` and `isUnopened`: the problem is that the check's own source cannot be opened. With it
 * come `isOwn` (this program's own login or secret fails; the service may have another) and `isApart`. An error that is
 * no `AdminError` is a bug of the check.
 */
export type Result =
  | (Outcome & { isUnopened?: boolean; isOwn?: boolean; isApart?: boolean })
  | { status: 'unknown'; error: unknown; because?: string }

/** A wanted source, or the error that says why it is unavailable: NOT_CONFIGURED if the deployment has no such part. */
export type Wanted<T> = T | AdminError

/** A small pure judgement over some of the deployment's sources. Never prints, writes or repairs. */
export interface Check<R extends SourceName = SourceName, W extends SourceName = SourceName> {
  /** Its path, `broker/queues-durable`; never renamed or reused */
  id: string
  /** The healthy state: 'queues are durable' */
  title: string
  /** The sources that it gets; it sees no other */
  reads: readonly R[]
  /** Sources that sharpen the judgement but are not required: it gets the source, or the error from opening it */
  wants?: readonly W[]
  /** The source that this check stands for: if it cannot be opened, the runner reports that as this check's problem */
  guards?: SourceName
  /** Returns the remedy if that source cannot be opened, depending on the reason; replaces `remedy` */
  unopened?: (error: AdminError, deployment: Deployment) => Remedy
  /** Checks whose problems this one causes */
  explains?: readonly string[]
  /** False if an unopened source causes no other problem, since what the source shows may well run */
  explainsUnopened?: boolean
  /** The operator's file that this check is in, an absolute path; absent: a check of this program */
  file?: string
  /** Reads that file and returns the check as it says; absent: there is nothing to read. Never throws */
  load?: () => Promise<Check>
  /** Why that file could not be loaded; absent: it could, or it was not tried */
  unloaded?: unknown
  /** True if it waits for its turn and keeps its deadline itself, from when it starts: the runner sets no other */
  isTimed?: boolean
  /** For problems that bring no remedy of their own */
  remedy?: Remedy
  run(sources: Pick<Sources, R> & { [K in W]: Wanted<Sources[K]> }, deployment: Deployment): Promise<Outcome>
}

/** Keeps the literal source names of a check, so that reading another source does not compile. */
export function defineCheck<const R extends SourceName, const W extends SourceName = never>(
  check: Check<R, W>,
): Check<R, W> {
  return check
}

/** Kinds of what happened to a deployment. */
export type EventKind =
  | 'rollout'
  | 'image'
  | 'setting'
  | 'restart'
  | 'node'
  | 'clock'
  | 'disk'
  | 'repair'
  | 'lock'
  | 'log'

/** Something that happened to the deployment. */
export interface DeploymentEvent {
  /** ISO 8601 */
  at: string
  kind: EventKind
  /** For people, without its time */
  message: string
  /** For `log`: number of records within this minute */
  count?: number
  /** What shows it */
  proof?: Suggestion
}

/** What `doctor --json` prints (DESIGN.md 4). */
export interface DoctorReport {
  schemaVersion: 1
  deployment: string
  /** What was found and is used if no configuration names the deployment */
  found?: string
  platform: PlatformName
  build: string | null
  /** Zone of the service's clock, an IANA name. Absent: unknown */
  timeZone?: string
  startedAt: string
  durationMs: number
  /** `suppressed`: problems that the configuration ignores; these checks count as skipped. Absent: a former version */
  summary: { ok: number; warning: number; error: number; skipped: number; unknown: number; suppressed?: number }
  /** Every problem that no other problem explains */
  rootCauses: readonly string[]
  checks: readonly CheckReport[]
  /** What happened before the diagnosis, oldest first. Absent: not asked */
  events?: {
    from: string
    to: string
    list: readonly DeploymentEvent[]
    /** What could not be asked, and why */
    unseen: readonly string[]
  }
}

/** What a check found, and why the configuration ignores it. */
interface Suppressed {
  severity: Severity
  findings: readonly Finding[]
  reason: string
  /** Last day on which it is ignored, in UTC: 2027-01-31 */
  until: string
}

export interface CheckReport {
  id: string
  title: string
  status: 'ok' | 'problem' | 'skipped' | 'unknown'
  severity?: Severity
  /** What was found to be healthy */
  detail?: string
  findings?: readonly Finding[]
  reason?: string
  error?: { code: ErrorCode | 'BUG'; message: string; suggestions: readonly string[] }
  /** A problem that the configuration ignores; the check counts as skipped, and `reason` says until when */
  suppressed?: Suppressed
  /** A problem that the configuration ignored until the end of that day */
  ignoredUntil?: string
  /** The problem that causes this one, or that keeps this check from being judged */
  because?: string
  /** Absent if `because` names another check, which is the one to repair */
  remedy?: Remedy
  /** For a root cause: its earliest sign, ISO 8601. Absent: not known */
  began?: string
  /** For a root cause: what changed in the 24 hours before that, or before the diagnosis; oldest first */
  changes?: readonly DeploymentEvent[]
  docs: string
  durationMs: number
}
