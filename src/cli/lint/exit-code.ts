import { exitCodeOf } from '../../engine/report.ts'
import type { FailOn } from '../../engine/report.ts'
import type { LintDocument } from '../../output/lint/document.ts'

export interface Judging {
  failOn: FailOn
  /** More warnings than this exit with 1; null if `failOn` alone judges warnings */
  maxWarnings: number | null
}

interface Given {
  ci: boolean
  'max-warnings'?: number | undefined
  'fail-on': FailOn
}

/**
 * Returns how to judge warnings. Flags override settings; `--ci` allows none unless a flag or setting says otherwise.
 */
export function judgingOf(
  { ci, 'max-warnings': flag, 'fail-on': failOn }: Given,
  ofSettings: number | undefined,
): Judging {
  if (flag !== undefined) return { failOn, maxWarnings: flag }
  if (failOn === 'error') return { failOn, maxWarnings: null }
  return { failOn, maxWarnings: ofSettings ?? (ci ? 0 : null) }
}

/** Returns 0 to 3, as `doctor` does (DESIGN.md 3). A result that a corrected copy lacks counts as unknown. */
export function lintExitCode(
  { summary, undeterminedCount, fix }: Pick<LintDocument, 'summary' | 'undeterminedCount' | 'fix'>,
  { failOn, maxWarnings }: Judging,
): 0 | 1 | 2 | 3 {
  const lacking = fix?.omitted.filter(({ file }) => /^[^/]*-result\.json$/.test(file)).length ?? 0
  if (maxWarnings !== null && summary.warning > maxWarnings) return 1
  return exitCodeOf(
    {
      summary: {
        error: summary.error,
        warning: maxWarnings === null ? summary.warning : 0,
        unknown: undeterminedCount + lacking,
      },
    },
    failOn,
  )
}

/** True if the warnings alone lead to an exit code other than 0. */
export function areWarningsFailures({ summary }: Pick<LintDocument, 'summary'>, judging: Judging): boolean {
  return lintExitCode({ summary: { error: 0, warning: summary.warning }, undeterminedCount: 0 }, judging) !== 0
}
