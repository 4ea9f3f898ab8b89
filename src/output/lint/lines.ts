import { printable } from '../text.ts'
import type { LintDocument, LintProblem } from './document.ts'
import { extent, pathOf, tally, testOf } from './words.ts'

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
