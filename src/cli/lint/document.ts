import { dirname, join, relative, resolve, sep } from 'node:path'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { ruleIds } from '../../knowledge/result-rules.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import type { LintDocument, LintFix, LintProblem } from '../../output/lint/document.ts'
import type { LintOptions, LintReport, Problem } from '../../results/problem.ts'
import type { IgnoredRule } from '../../runtime/lint/index.ts'

/** What is known besides the report. */
export interface About {
  severities: LintOptions['severities']
  settings?: string
  /** Rules that are ignored today */
  ignored?: readonly IgnoredRule[]
  fix?: LintFix
  workingDirectory: string
}

/**
 * Returns the findings as they are printed, without secrets in foreign names and texts. All files are relative to one
 * directory.
 */
export function lintDocument(
  report: LintReport,
  { severities, settings, ignored = [], fix, workingDirectory }: About,
): LintDocument {
  const { directories, undeterminedCount } = report
  const isIgnored = (rule: RuleId): boolean => ignored.some((it) => it.rule === rule)
  const counts = new Map([...report.counts].filter(([rule]) => !isIgnored(rule)))
  const suppressedOf = (rule: RuleId): number => {
    const { error = 0, warning = 0 } = report.counts.get(rule) ?? {}
    return error + warning
  }
  const directory = commonParent(
    directories.map((it) => it.directory),
    workingDirectory,
  )
  const withins = new Map(directories.map((it) => [it.directory, withinOf(it.directory)]))
  // agent logs belong to no directory
  const fileOf = (of: string, file: string): string =>
    of === '' ? withinOf(file) : posix(join(withins.get(of) ?? withinOf(of), file))
  const sum = (of: 'files' | 'results' | 'bytes'): number => directories.reduce((total, it) => total + it[of], 0)
  const total = (of: 'error' | 'warning'): number => [...counts.values()].reduce((all, it) => all + it[of], 0)
  return {
    schemaVersion: 1,
    directory,
    ...(settings !== undefined && { settings }),
    files: sum('files'),
    results: sum('results'),
    bytes: sum('bytes'),
    summary: {
      error: total('error'),
      warning: total('warning'),
      suppressed: ignored.reduce((sum, { rule }) => sum + suppressedOf(rule), 0),
    },
    rules: Object.fromEntries(ruleIds.flatMap((id) => (counts.has(id) ? [[id, counts.get(id)]] : []))),
    off: ruleIds.filter((id) => severities.get(id) === 'off'),
    directories: directories.map((it) => ({
      directory: it.directory,
      within: withins.get(it.directory)!,
      files: it.files,
      results: it.results,
      bytes: it.bytes,
    })),
    problems: report.problems.filter(({ rule }) => !isIgnored(rule)).map(problemOf),
    suppressed: ignored
      .filter(({ rule }) => suppressedOf(rule) > 0)
      .map((it) => ({
        ...it,
        reason: withoutSecrets(it.reason),
        count: suppressedOf(it.rule),
        problems: report.problems.filter(({ rule }) => rule === it.rule).map(problemOf),
      })),
    undetermined: report.undetermined.map(({ directory: of, file, message }) =>
      withoutSecretsIn({ file: fileOf(of, file), message }),
    ),
    undeterminedCount,
    ...(fix && { fix: withoutSecretsIn(fix) }),
  }

  function problemOf({
    rule,
    severity,
    directory: of,
    file,
    place,
    message,
    effect,
    remedy,
    result,
    together,
    togetherCount,
  }: Problem): LintProblem {
    return {
      rule,
      severity,
      file: withoutSecrets(fileOf(of, file)),
      ...(place !== undefined && { place: withoutSecrets(place) }),
      message: withoutSecrets(message),
      effect,
      remedy,
      ...(result && { result: withoutSecretsIn(result) }),
      ...(together && {
        together: together.map(({ directory: its, file: name, ...rest }) =>
          withoutSecretsIn({ file: fileOf(its, name), ...rest }),
        ),
        togetherCount: togetherCount ?? together.length,
      }),
    }
  }

  function withinOf(of: string): string {
    return posix(relative(resolve(workingDirectory, directory), resolve(workingDirectory, of))) || '.'
  }
}

/** Returns the nearest directory that contains all, as one would type it here; a single one as it was given. */
export function commonParent(directories: readonly string[], workingDirectory: string): string {
  const [first = '.', ...others] = directories
  if (others.length === 0) return first
  const absolute = directories.map((it) => resolve(workingDirectory, it))
  let parent = absolute[0]!
  while (!absolute.every((it) => it === parent || it.startsWith(parent === sep ? sep : `${parent}${sep}`)))
    parent = dirname(parent)
  const path = relative(workingDirectory, parent)
  return path.startsWith('..') ? parent : path || '.'
}

function posix(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}
