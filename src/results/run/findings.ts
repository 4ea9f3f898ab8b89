import { resultRules, ruleIds } from '../../knowledge/result-rules.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { mostOfRule } from '../problem.ts'
import type {
  Found,
  LintOptions,
  LintReport,
  Problem,
  ProblemSeverity,
  TestOfResult,
  Undetermined,
} from '../problem.ts'

/** Maximum undetermined files that are kept; the rest are only counted. */
const mostUndetermined = 1000

/** Keeps findings, as many of them as can be shown. */
export interface Findings {
  /** true if the rule is on */
  isOn(rule: RuleId): boolean
  /** true if more problems of the rule would be kept */
  hasRoom(rule: RuleId): boolean
  /** keeps a problem, and counts it */
  add(rule: RuleId, directory: string, file: string, found: Found, result?: TestOfResult | null): void
  count(rule: RuleId, more: number): void
  undetermined(of: Undetermined): void
  result(): Pick<LintReport, 'counts' | 'problems' | 'undetermined' | 'undeterminedCount'>
}

export function openFindings(severities: LintOptions['severities']): Findings {
  const severityOf = (rule: RuleId): ProblemSeverity | 'off' => severities.get(rule) ?? resultRules[rule].severity
  const problems = new Map<RuleId, Problem[]>()
  const counts = new Map<RuleId, number>()
  const undetermined: Undetermined[] = []
  let undeterminedCount = 0
  const count = (rule: RuleId, more: number): void => {
    if (more > 0 && severityOf(rule) !== 'off') counts.set(rule, (counts.get(rule) ?? 0) + more)
  }
  return {
    isOn: (rule) => severityOf(rule) !== 'off',
    hasRoom: (rule) => (problems.get(rule)?.length ?? 0) < mostOfRule,
    add(rule, directory, file, found, result = null) {
      const severity = severityOf(rule)
      if (severity === 'off') return
      count(rule, 1)
      const kept = problems.get(rule) ?? []
      problems.set(rule, kept)
      if (kept.length >= mostOfRule) return
      const { effect, remedy } = resultRules[rule]
      kept.push({ effect, remedy, ...found, rule, severity, directory, file, ...(result && { result }) })
    },
    count,
    undetermined(of) {
      undeterminedCount += 1
      if (undetermined.length < mostUndetermined) undetermined.push(of)
    },
    result: () => ({
      counts: new Map(
        ruleIds.flatMap((rule) =>
          counts.has(rule) ? [[rule, bySeverity(counts.get(rule)!, severityOf(rule))] as const] : [],
        ),
      ),
      problems: (['error', 'warning'] as const).flatMap((severity) =>
        ruleIds
          .filter((rule) => severityOf(rule) === severity)
          .flatMap((rule) => (problems.get(rule) ?? []).sort(byFile)),
      ),
      undetermined: undetermined.sort(byFile),
      undeterminedCount,
    }),
  }
}

function bySeverity(count: number, severity: ProblemSeverity | 'off'): Record<ProblemSeverity, number> {
  return { error: severity === 'error' ? count : 0, warning: severity === 'warning' ? count : 0 }
}

/** Compares directory, then file. The sort is stable, so the first finding of a file stays first. */
function byFile(one: { directory: string; file: string }, other: { directory: string; file: string }): number {
  return compared(one.directory, other.directory) || compared(one.file, other.file)
}

function compared(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}
