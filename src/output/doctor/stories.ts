import type { CheckReport, DoctorReport } from '../../core/report.ts'

/** One root cause and its consequences. */
export interface Story {
  root: CheckReport
  /** Problems that it causes */
  explained: readonly CheckReport[]
  /** Checks that could not be judged because of it */
  unjudged: readonly CheckReport[]
}

/** A report told by causes: errors first, then warnings; then what could not be determined for a reason of its own. */
export interface Told {
  all: readonly CheckReport[]
  stories: readonly Story[]
  unknown: readonly CheckReport[]
  skipped: readonly CheckReport[]
  ok: readonly CheckReport[]
}

export function tell({ checks }: Pick<DoctorReport, 'checks'>): Told {
  const byId = new Map(checks.map((check) => [check.id, check]))
  const withCause = checks.map((check) => ({ check, cause: causeOf(check, byId) }))
  const followers = (root: CheckReport, status: CheckReport['status']): CheckReport[] =>
    withCause
      .filter(({ check, cause }) => check !== root && cause === root && check.status === status)
      .map(({ check }) => check)
  const roots = withCause
    .filter(({ check, cause }) => check.status === 'problem' && cause === check)
    .map(({ check }) => check)
  return {
    all: checks,
    stories: [...roots.filter(isError), ...roots.filter((root) => !isError(root))].map((root) => ({
      root,
      explained: followers(root, 'problem'),
      unjudged: followers(root, 'unknown'),
    })),
    unknown: withCause
      .filter(({ check, cause }) => check.status === 'unknown' && cause.status !== 'problem')
      .map(({ check }) => check),
    skipped: checks.filter(({ status }) => status === 'skipped'),
    ok: checks.filter(({ status }) => status === 'ok'),
  }
}

/** Follows `because` to the root cause. Only problems count as causes; a check that would cause itself stands alone. */
function causeOf(check: CheckReport, byId: ReadonlyMap<string, CheckReport>): CheckReport {
  const seen = new Set([check.id])
  let cause = check
  for (;;) {
    const next = cause.because === undefined ? undefined : byId.get(cause.because)
    if (next?.status !== 'problem') return cause
    if (seen.has(next.id)) return check
    seen.add(next.id)
    cause = next
  }
}

function isError({ severity }: CheckReport): boolean {
  return severity === 'error'
}
