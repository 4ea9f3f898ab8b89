import type { CheckReport, DoctorReport, Remedy } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError, messageOf } from '../core/error.ts'
import type { ServiceCommands } from '../core/sources.ts'
import type { Judged } from './causes.ts'
import { fill, fillCommand, fillRemedy } from './remedy.ts'
import { isByRepair, isByRun } from './causes.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Shape } from '../core/shape.ts'
import { amount, isObject, listOf, objectOf, oneOf, optional, text } from '../core/shape.ts'
import { isOwnCheck } from '../knowledge/check-ids.ts'
import { asPath, command } from '../core/shell-command.ts'
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
    docs: check.file === undefined ? command`testops-admin explain ${check.id}` : command`less ${asPath(check.file)}`,
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

const whileBusy =
  'testops-admin doctor -d {deployment}   # run the checks again once the running migration or repair has finished'
const begins = whileBusy.slice(0, whileBusy.indexOf(' -d '))
const ends = whileBusy.slice(whileBusy.indexOf('   # '))

/** True if a repair has to wait until a migration or another repair has finished, by its remedy's first command. */
export function waitsForOther({ commands: [first = ''] }: Pick<Remedy, 'commands'>): boolean {
  return first.startsWith(begins) && first.endsWith(ends)
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
      commands: [whileBusy, ...commands],
    }
  const waits = first !== undefined && first !== commands[0] && (isByRepair(own) || isByRun(own))
  return waits ? { ...own, commands: [first, ...commands] } : own
}

/**
 * Returns an error for a document, its commands `filled` in. Anything but an `AdminError` is a bug, and its report
 * needs the stack.
 */
export function reportError(
  error: unknown,
  filled: (command: Suggestion) => Suggestion = (it) => it,
): NonNullable<CheckReport['error']> {
  if (error instanceof AdminError)
    return { code: error.code, message: error.message, suggestions: error.suggestions.map(filled) }
  const stack = error instanceof Error && error.stack ? [error.stack] : []
  return { code: 'BUG', message: `this is a bug in testops-admin: ${messageOf(error)}`, suggestions: stack }
}

const told: Shape = objectOf({
  message: text,
  evidence: listOf(text),
})
const severity = oneOf('error', 'warning')
const happened: Shape = objectOf({
  at: text,
  kind: text,
  message: text,
  count: optional(amount),
  proof: optional(text),
})
const recordedCheck = objectOf({
  id: text,
  title: text,
  status: oneOf('ok', 'problem', 'skipped', 'unknown'),
  severity: optional(severity),
  detail: optional(text),
  findings: optional(listOf(told)),
  reason: optional(text),
  error: optional(objectOf({ code: text, message: text, suggestions: listOf(text) })),
  suppressed: optional(objectOf({ severity, findings: listOf(told), reason: text, until: text })),
  ignoredUntil: optional(text),
  because: optional(text),
  remedy: optional(
    objectOf({
      text,
      commands: listOf(text),
      risk: optional(text),
      undo: optional(text),
      lacks: optional(text),
    }),
  ),
  began: optional(text),
  changes: optional(listOf(happened)),
  docs: text,
  durationMs: amount,
})

/**
 * Returns what the operator's own checks found when a report was saved, without the commands that somebody else wrote
 * into it: their files are elsewhere, and nothing of a report is executed. Throws an Error that says what is wrong with
 * the data.
 */
export function recordedOwnChecks(report: unknown): CheckReport[] {
  const checks = isObject(report) && Array.isArray(report['checks']) ? (report['checks'] as readonly unknown[]) : []
  const own = checks.filter((it) => isObject(it) && typeof it['id'] === 'string' && isOwnCheck(it['id']))
  const fault = listOf(recordedCheck)(own, 'checks')
  if (fault !== null) throw new Error(fault.toString())
  return (own as CheckReport[]).map(({ remedy, ...rest }) => ({
    ...rest,
    ...(remedy && {
      remedy: { text: remedy.text, commands: [], ...(remedy.risk !== undefined && { risk: remedy.risk }) },
    }),
  }))
}

/** Returns a report with the results of own checks behind those that were judged. */
export function withOwnResults(report: DoctorReport, own: readonly CheckReport[]): DoctorReport {
  const checks = [...report.checks, ...own]
  const roots = own.filter(({ status, because }) => status === 'problem' && because === undefined)
  return {
    ...report,
    summary: summarise(checks),
    rootCauses: [...report.rootCauses, ...roots.map(({ id }) => id)],
    checks,
  }
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
