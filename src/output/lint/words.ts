import { posix } from 'node:path'
import { grouped, bytes as size } from '../../core/format.ts'
import { harmless } from '../../core/harmless.ts'
import type { LintDocument, LintProblem, LintSeverity } from './document.ts'
import { printable } from '../text.ts'

/** Returns a number with its noun, such as `1,284 results`, in the English plural. */
export function amount(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${harmless(count === 1 ? singular : plural)}`
}

/** Returns a size such as `1,284 results in 1,502 files, 5.2 MB`. */
export function extent({ results, files, bytes }: Pick<LintDocument, 'results' | 'files' | 'bytes'>): string {
  return `${amount(results, 'result')} in ${amount(files, 'file')}, ${size(bytes)}`
}

/** Returns counts such as `2 errors, 1 warning`; empty if all are 0. */
export function tally({
  summary: { error, warning, suppressed },
  undeterminedCount,
}: Pick<LintDocument, 'summary' | 'undeterminedCount'>): string {
  const parts = [
    error > 0 ? amount(error, 'error') : '',
    warning > 0 ? amount(warning, 'warning') : '',
    undeterminedCount > 0 ? `${amount(undeterminedCount, 'file')} not checked` : '',
    suppressed > 0 ? `${grouped(suppressed)} suppressed` : '',
  ]
  return parts.filter(Boolean).join(', ')
}

/**
 * Returns the test of a result as its author knows it: its name, and the full name if that says more. Null if it has
 * neither.
 */
export function testOf(result: LintProblem['result'], most?: number): string | null {
  const { name, fullName } = result ?? {}
  if (!name) return fullName ? short(fullName, most) : null
  return !fullName || fullName.includes(name) ? short(name, most) : `${short(name, most)} (${short(fullName, most)})`
}

/** Cuts a name, which may be as long as a file, so that it does not hide the rest. */
export function short(name: string, most = 120): string {
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name
}

/** Returns the file's path as one would type it where the command was given. */
export function pathOf(directory: string, file: string): string {
  return file === '.' ? directory : posix.join(directory, file)
}

/** Problems of one rule; `count` is exact, even if not all are listed. */
export interface RuleGroup {
  rule: LintProblem['rule']
  severity: LintSeverity
  count: number
  /** Each with one effect and remedy; in the order of their first problems */
  advices: readonly Advice[]
}

export interface Advice {
  effect: string
  remedy: string
  /** The most frequent first */
  causes: readonly Cause[]
}

/** Problems about which the same is said, except for the values that each has. */
export interface Cause {
  /** Null if they differ */
  message: string | null
  problems: readonly LintProblem[]
}

/** Groups problems by rule, then by effect and remedy, then by cause; rules and advice keep the document's order. */
export function groupsOf({ problems, rules }: Pick<LintDocument, 'problems' | 'rules'>): RuleGroup[] {
  return by(problems, ({ rule, severity }) => `${severity} ${rule}`).map((ofRule) => {
    const { rule, severity } = ofRule[0]!
    const advices = by(ofRule, ({ effect, remedy }) => JSON.stringify([effect, remedy])).map((alike) => {
      const causes = by(alike, causeOf).map((same) => ({
        message: same.every(({ message }) => message === same[0]!.message) ? same[0]!.message : null,
        problems: same,
      }))
      return {
        effect: alike[0]!.effect,
        remedy: alike[0]!.remedy,
        causes: causes.sort((one, other) => other.problems.length - one.problems.length),
      }
    })
    return { rule, severity, count: rules[rule]?.[severity] ?? ofRule.length, advices }
  })
}

/**
 * Returns a message without its numbers and values. Names of parameters, entries and labels stay, as they tell causes
 * apart.
 */
function causeOf({ message, together }: LintProblem): string {
  if (together) return message
  return message.replace(
    /(?:\b(parameter|entry|label) )?"(?:[^"\\]|\\[^])*(?:"|\\?$)|\d[\d,]*/g,
    (all, named: string | undefined) => (named === undefined ? '…' : all),
  )
}

function by<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

/**
 * Yields one line for each problem, `error RULE FILE PLACE: MESSAGE`, then a summary: for the log of a pipeline, and
 * for grep.
 */
export function* lintLines(document: LintDocument, exitCode: number): Generator<string> {
  for (const line of linesOf(document, exitCode)) yield `${printable(line)}\n`
}

function* linesOf(document: LintDocument, exitCode: number): Generator<string> {
  const { directory, problems, undetermined, undeterminedCount, settings, fix } = document
  if (fix)
    yield `copy ${fix.output}: ${
      Object.entries(fix.mended)
        .map(([rule, count]) => `${rule} ${count}`)
        .join(', ') || 'nothing'
    } fixed`
  for (const { rule, file, place, message } of fix?.left ?? [])
    yield `left ${rule} ${file}${place === undefined ? '' : ` ${place}`}: ${message}`
  for (const { file, message } of fix?.omitted ?? []) yield `omitted ${file}: ${message}`
  for (const problem of problems) yield problemLine(problem, directory)
  for (const { file, message } of undetermined) yield `unknown ${pathOf(directory, file)}: ${message}`
  yield* cut(document)
  yield `${tally({ summary: document.summary, undeterminedCount }) || 'nothing wrong'} in ${directory}: ` +
    `${extent(document)}${settings === undefined ? '' : `; settings ${settings}`}; exit code ${exitCode}`
}

function problemLine(
  { severity, rule, file, place, message, result, togetherCount }: LintProblem,
  directory: string,
): string {
  const test = testOf(result)
  const more = [
    test === null ? '' : `test: ${test}`,
    togetherCount === undefined ? '' : `results that become one: ${togetherCount}`,
  ]
    .filter(Boolean)
    .join('; ')
  return (
    `${severity} ${rule} ${pathOf(directory, file)}${place === undefined ? '' : ` ${place}`}: ` +
    `${message}${more === '' ? '' : ` (${more})`}`
  )
}

/** Returns how much the list omits. */
function cut({ problems, summary, undetermined, undeterminedCount }: LintDocument): string[] {
  const missing = summary.error + summary.warning - problems.length
  const unread = undeterminedCount - undetermined.length
  return [
    ...(missing > 0 ? [`and ${missing} more problems that are not listed`] : []),
    ...(unread > 0 ? [`and ${unread} more files that could not be checked`] : []),
  ]
}
