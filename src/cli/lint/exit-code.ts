import { exitCodeOf } from '../../engine/report.ts'
import type { FailOn } from '../../engine/report.ts'
import type { LintDocument } from '../../output/lint/document.ts'

export interface Judging {
  failOn: FailOn
  /** exit with 1 if there are more warnings than this; null: warnings end as `failOn` says */
  maxWarnings: number | null
}

interface Given {
  ci: boolean
  'max-warnings'?: number | undefined
  'fail-on': FailOn
}

/** How warnings are judged: flags stand above the settings; with `--ci` none is allowed where nobody says otherwise. */
export function judgingOf(
  { ci, 'max-warnings': flag, 'fail-on': failOn }: Given,
  ofSettings: number | undefined,
): Judging {
  if (flag !== undefined) return { failOn, maxWarnings: flag }
  if (failOn === 'error') return { failOn, maxWarnings: null }
  return { failOn, maxWarnings: ofSettings ?? (ci ? 0 : null) }
}

/** 0 to 3, as `doctor` has them (DESIGN.md 3). Nothing could be told of a result that a mended copy lacks. */
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

/** Whether the warnings alone would end with another code than 0. */
export function areWarningsFailures({ summary }: Pick<LintDocument, 'summary'>, judging: Judging): boolean {
  return lintExitCode({ summary: { error: 0, warning: summary.warning }, undeterminedCount: 0 }, judging) !== 0
}
