import type { Check, CheckReport, DoctorReport, Result } from '../core/check.ts'
import type { Deployment, Ignored } from '../core/deployment.ts'
import { currentTime, isDayOver } from '../core/local-time.ts'
import { isIgnorable } from '../knowledge/check-ids.ts'
import { unlessAborted } from '../core/work.ts'
import { AdminError } from '../core/error.ts'
import type { ServiceCommands } from '../core/sources.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import { foldCauses, remedyOf } from './causes.ts'
import type { Judged } from './causes.ts'
import { judge, shareSources } from './judge.ts'
import { fillCommand } from './remedy.ts'
import { reportCheck, summarise } from './report.ts'
import type { OpenSources, Times } from './judge.ts'

export interface RunOptions extends Times {
  /** In display order */
  checks: readonly Check[]
  open: OpenSources
  deployment: Deployment
  /** Commands of this platform, for remedies; null: not known */
  commands: ServiceCommands | null
  /** True if what the deployment's configuration ignores does not count */
  isIgnoring?: boolean | undefined
  /** What happened before the diagnosis: asked if there is a problem, or always; absent: not asked */
  past?: 'with-problems' | 'always' | undefined
  /** Called as each check ends, in that order, before causes are found */
  onResult?: ((report: CheckReport) => void) | undefined
  /** Aborting ends the run with AdminError INTERRUPTED */
  signal?: AbortSignal | undefined
}

/** Runs all checks at once and combines their results in one report. Throws AdminError INTERRUPTED when aborted. */
export async function runChecks(options: RunOptions): Promise<Omit<DoctorReport, 'build'>> {
  const interrupted = (): AdminError => new AdminError('INTERRUPTED', 'the diagnosis was interrupted')
  return unlessAborted(runAll(options), options.signal, interrupted)
}

async function runAll({
  checks,
  open,
  deployment,
  deadlineMs,
  waitMs,
  commands,
  isIgnoring = false,
  past,
  onResult,
  signal,
}: RunOptions): Promise<Omit<DoctorReport, 'build'>> {
  const startedAt = new Date().toISOString()
  const begin = performance.now()
  const share = shareSources(open, { deadlineMs, waitMs })
  const judged = await Promise.all(
    checks.map(async (listed) => {
      const before = performance.now()
      const check = (await listed.load?.()) ?? listed
      const found = await judge(check, { share, checks, deployment, deadlineMs, waitMs })
      const result = isIgnoring ? unlessIgnored(check.id, found, deployment) : found
      const durationMs = Math.round(performance.now() - before)
      if (!signal?.aborted) onResult?.(reportCheck({ check, result, durationMs }, deployment, commands))
      return { check, result, durationMs }
    }),
  )
  const withEnded = (report: CheckReport): CheckReport => {
    const ended = isIgnoring && report.status === 'problem' ? ignoringOf(report.id, deployment) : undefined
    return ended === undefined ? report : { ...report, ignoredUntil: ended.until }
  }
  const folded = foldCauses(judged)
  const isBusy = judged.some(({ result }) => result.status === 'ok' && result.underway !== undefined)
  const first = beforeRepairs(folded.judged)
  const reports = folded.judged.map((it) =>
    withEnded(reportCheck(it, deployment, commands, { isBusy, first, resume: resumeOf(it, folded.judged) })),
  )
  const report: Omit<DoctorReport, 'build'> = {
    schemaVersion: 1,
    deployment: deployment.name,
    ...(deployment.found !== undefined && { found: deployment.found }),
    platform: deployment.platform,
    startedAt,
    durationMs: Math.round(performance.now() - begin),
    summary: summarise(reports),
    rootCauses: folded.rootCauses,
    checks: reports,
  }
  if (past === undefined || (past === 'with-problems' && folded.rootCauses.length === 0)) return report
  const { readPast, withPast } = await import('./changes.ts')
  const filled = (it: Suggestion): Suggestion => fillCommand(it, deployment, commands)
  const since = new Map(
    folded.judged.flatMap(({ check, result }) =>
      result.status === 'problem' && result.since ? [[check.id, result.since] as const] : [],
    ),
  )
  return withoutSecretsIn(withPast(report, await readPast(share, { waitMs: waitMs ?? deadlineMs, filled }), since))
}

/** Returns the entry that ignores a check, the one with the last day; none for a check that cannot be ignored. */
function ignoringOf(id: string, { ignore = [] }: Deployment): Ignored | undefined {
  const own = isIgnorable(id) ? ignore.filter(({ check }) => check === id) : []
  return own.reduce<Ignored | undefined>((last, it) => (last && last.until >= it.until ? last : it), undefined)
}

/**
 * Returns a problem that is ignored today as skipped: it then explains no other, so that its effects stay in sight.
 * What could not be judged stays so.
 */
function unlessIgnored(id: string, result: Result, deployment: Deployment): Result {
  const ignored = ignoringOf(id, deployment)
  if (result.status !== 'problem' || ignored === undefined || isDayOver(ignored.until, currentTime())) return result
  const { reason, until } = ignored
  const { severity, findings } = result
  return {
    status: 'skipped',
    reason: `suppressed until ${until}: ${reason}`,
    suppressed: { severity, findings, reason, until },
  }
}

/**
 * Returns the command that resumes an unfinished repair which only has to start the service, where `service start`
 * would be refused.
 */
function resumeOf({ check }: Judged, all: readonly Judged[]): Suggestion | undefined {
  return all.flatMap(({ result, because }) =>
    result.status === 'problem' && result.follows !== undefined && because === check.id
      ? (result.remedy?.commands ?? [])
      : [],
  )[0]
}

/** Returns what must come before any other repair: ending the unfinished one, or removing what keeps it from ending. */
function beforeRepairs(all: readonly Judged[]): Suggestion | undefined {
  const blocks = all.filter(({ result }) => result.status === 'problem' && result.blocksRepairs)
  // a problem with a reason of its own also blocks an unfinished repair
  const blocking = blocks.find(({ result }) => result.status === 'problem' && result.isApart) ?? blocks[0]
  const root = all.find(({ check }) => check.id === blocking?.because) ?? blocking
  return root && remedyOf(root)?.commands[0]
}
