import type { DoctorReport } from '../core/report.ts'

/**
 * What makes `doctor` fail: 'warning' leaves the table as it is, 'error' forgives all else, 'unknown' makes 3 a failure
 * too.
 */
export type FailOn = 'warning' | 'error' | 'unknown'

/** 0 healthy, 1 an error, 3 something could not be determined, 2 warnings only; in this order of precedence after 0. */
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
