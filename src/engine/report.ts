import type { CheckReport, DoctorReport, Remedy } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError, messageOf } from '../core/error.ts'
import type { ServiceCommands } from '../core/sources.ts'
import type { Judged } from './causes.ts'
import { fill, fillCommand, fillRemedy } from './remedy.ts'
import { isByRepair, isByRun } from './causes.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** Circumstances that change the commands of a remedy. */
interface Around {
  /** A migration or a repair is running, so most commands would be refused */
  isBusy?: boolean
  /** The command that replaces `service start`, which would be refused */
  resume?: Suggestion | undefined
  /** What must be done before any repair */
  first?: Suggestion | undefined
}

/** Returns one check's part of the report, with secrets removed: a source's text may hold some. */
export function reportCheck(
  judged: Judged,
  deployment: Deployment,
  commands: ServiceCommands | null,
  around: Around = {},
): CheckReport {
  return withoutSecretsIn(reported(judged, deployment, commands, around))
}

function reported(
  judged: Judged,
  deployment: Deployment,
  commands: ServiceCommands | null,
  around: Around,
): CheckReport {
  const { check, result, durationMs } = judged
  const because = judged.because ?? (result.status === 'unknown' ? result.because : undefined)
  const common = { id: check.id, title: check.title }
  const rest = {
    ...(because === undefined ? {} : { because }),
    docs: command`testops-admin explain ${check.id}`,
    durationMs,
  }
  const filled = (remedy: Remedy | undefined): Pick<CheckReport, 'remedy'> =>
    remedy && because === undefined ? { remedy: fillRemedy(typable(remedy, around), deployment, commands) } : {}
  switch (result.status) {
    case 'ok':
      return { ...common, status: 'ok', detail: result.detail, ...rest }
    case 'skipped':
      return {
        ...common,
        status: 'skipped',
        reason: result.suppressed ? result.reason : fill(result.reason, deployment, commands),
        ...(result.suppressed && { suppressed: result.suppressed }),
        ...rest,
      }
    case 'problem':
      return {
        ...common,
        status: 'problem',
        severity: result.severity,
        findings: result.findings,
        ...filled(result.remedy ?? check.remedy),
        ...rest,
      }
    case 'unknown':
      return {
        ...common,
        status: 'unknown',
        error: reportError(result.error, (command) => fillCommand(command, deployment, commands)),
        ...rest,
      }
  }
}

const starts = /^testops-admin service (?:re)?start /

/** Puts the commands of a remedy in an order in which the deployment refuses none now. */
function typable(remedy: Remedy, { isBusy, resume, first }: Around): Remedy {
  const commands =
    resume === undefined ? remedy.commands : [...new Set(remedy.commands.map((it) => (starts.test(it) ? resume : it)))]
  const own = { ...remedy, commands }
  if (isByRepair(own) && isBusy)
    return {
      ...own,
      commands: [
        'testops-admin doctor -d {deployment}   # run the checks again once the running migration or repair ' +
          'has finished',
        ...commands,
      ],
    }
  const waits = first !== undefined && first !== commands[0] && (isByRepair(own) || isByRun(own))
  return waits ? { ...own, commands: [first, ...commands] } : own
}

/** Returns an error for the report. Anything but an `AdminError` is a bug, and its report needs the stack. */
function reportError(error: unknown, filled: (command: Suggestion) => Suggestion): NonNullable<CheckReport['error']> {
  if (error instanceof AdminError)
    return { code: error.code, message: error.message, suggestions: error.suggestions.map(filled) }
  const stack = error instanceof Error && error.stack ? [error.stack] : []
  return { code: 'BUG', message: `this is a bug in testops-admin: ${messageOf(error)}`, suggestions: stack }
}

export function summarise(checks: readonly CheckReport[]): DoctorReport['summary'] {
  const count = (holds: (check: CheckReport) => boolean): number => checks.filter(holds).length
  return {
    ok: count(({ status }) => status === 'ok'),
    warning: count(({ status, severity }) => status === 'problem' && severity === 'warning'),
    error: count(({ status, severity }) => status === 'problem' && severity === 'error'),
    skipped: count(({ status }) => status === 'skipped'),
    unknown: count(({ status }) => status === 'unknown'),
    suppressed: count(({ suppressed }) => suppressed !== undefined),
  }
}

/**
 * What makes `doctor` fail. 'warning': the usual exit codes. 'error': only errors. 'unknown': as 'warning', but an
 * undetermined check exits with 1, not 3.
 */
export type FailOn = 'warning' | 'error' | 'unknown'

/** Returns the exit code by precedence: 1 for an error, 3 for an undetermined check, 2 for warnings, else 0. */
export function exitCodeOf(
  report: { summary: Pick<DoctorReport['summary'], 'error' | 'unknown' | 'warning'> },
  failOn: FailOn = 'warning',
): 0 | 1 | 2 | 3 {
  const { error, unknown, warning } = report.summary
  if (error > 0) return 1
  if (failOn === 'error') return 0
  if (unknown > 0) return failOn === 'unknown' ? 1 : 3
  return warning > 0 ? 2 : 0
}
