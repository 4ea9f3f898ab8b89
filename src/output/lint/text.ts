import { grouped, moment } from '../../core/format.ts'
import { typed } from '../../core/typed.ts'
import { badge, paintFor } from '../paint.ts'
import type { Paint, Screen } from '../paint.ts'
import { hang, printable } from '../text.ts'
import type { LintDocument, LintFix, LintProblem, LintedTogether } from './document.ts'
import { amount, extent, groupsOf, pathOf, short, tally, testOf } from './words.ts'
import type { Advice, Cause, RuleGroup } from './words.ts'
import { command } from '../../core/shell-command.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'

export interface LintView {
  screen: Screen
  exitCode: number
  verbose: boolean
}

/** Maximum number shown: causes of a rule, places of a cause, results that become one, files that could not be read */
const most = { causes: 10, places: 3, together: 5, undetermined: 5 } as const
/** Maximum characters shown of a name or a place */
const longest = 60

/**
 * Returns the findings for people, the worst first. Each rule comes once, with its effect and how to fix it; then comes
 * the verdict.
 */
export function lintText(document: LintDocument, view: LintView): string {
  const { screen } = view
  const paint = paintFor(screen)
  const groups = groupsOf(document)
  const isQuiet = groups.length === 0 && document.undeterminedCount === 0 && !document.fix
  if (isQuiet && (document.suppressed.length === 0 || !view.verbose))
    return `${hang('', untroubled(document), screen.columns).join('\n')}\n`
  const blocks = [
    heading(document, screen, paint),
    ...(document.fix ? [fixLines(document.fix, screen)] : []),
    ...groups.map((group) => groupLines(group, document, view, paint)),
    undetermined(document, view, paint),
    view.verbose ? suppressed(document, screen) : [],
    verdict(document, groups, view),
  ]
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

/** Returns what ignored rules found, and why they are ignored. */
function suppressed({ suppressed: all, directory }: LintDocument, { columns }: Screen): string[] {
  return all.flatMap(({ rule, reason, until, count, problems }) => [
    ...hang(
      '',
      printable(`Suppressed until ${until}: ${amount(count, 'problem')} of ${rule}. Reason: ${reason}`),
      columns,
    ),
    ...problems.flatMap(({ file, message }) =>
      hang('  - ', printable(`${pathOf(directory, file)}: ${message}`), columns),
    ),
    ...(count > problems.length ? [`    and ${grouped(count - problems.length)} more`] : []),
  ])
}

function untroubled({ results, directory, settings, off, summary }: LintDocument): string {
  const judged = [
    settings === undefined ? '' : `settings: ${settings}`,
    off.length === 0 ? '' : `rules off: ${printable(off.join(', '))}`,
    summary.suppressed === 0 ? '' : `${amount(summary.suppressed, 'problem')} suppressed (--verbose lists them)`,
  ]
    .filter(Boolean)
    .join('; ')
  const said = summary.suppressed === 0 ? 'nothing wrong' : 'no problem counts'
  return printable(`${amount(results, 'result')} in ${directory}: ${said}${judged === '' ? '' : ` (${judged})`}`)
}

function heading(document: LintDocument, { columns }: Screen, paint: Paint): string[] {
  const { directory, directories, settings, off } = document
  const name = printable(directory)
  const several = directories.length > 1 ? `${grouped(directories.length)} directories, ` : ''
  const judged =
    `${settings === undefined ? '' : `; settings: ${printable(settings)}`}` +
    `${off.length === 0 ? '' : `; rules off: ${off.join(', ')}`}`
  const [line = '', ...more] = hang('', `${name}: ${several}${extent(document)}${judged}`, columns)
  return [line.startsWith(name) ? paint.strong(name) + line.slice(name.length) : line, ...more]
}

function groupLines(
  { rule, severity, count, advices }: RuleGroup,
  document: LintDocument,
  view: LintView,
  paint: Paint,
): string[] {
  const shown = { left: view.verbose ? Infinity : most.causes }
  const lines = advices.flatMap((advice) => adviceLines(advice, document, view, shown))
  const told = advices.reduce(
    (sum, { causes }) => sum + causes.reduce((all, { problems }) => all + problems.length, 0),
    0,
  )
  const skipped = advices.flatMap(({ causes }) => causes).slice(view.verbose ? Infinity : most.causes)
  const hidden = skipped.reduce((sum, { problems }) => sum + problems.length, 0)
  const rest = [
    hidden > 0 ? `  and ${grouped(hidden)} more: --verbose shows all` : '',
    told < count ? `  only the first ${grouped(told)} of ${grouped(count)} problems are listed` : '',
  ].filter(Boolean)
  return [`${badge(severity, paint)}  ${paint.strong(rule)}: ${amount(count, 'problem')}`, ...lines, ...rest]
}

function adviceLines(
  { effect, remedy, causes }: Advice,
  document: LintDocument,
  view: LintView,
  shown: { left: number },
): string[] {
  const here = causes.slice(0, Math.max(0, shown.left))
  shown.left -= causes.length
  if (here.length === 0) return []
  const { columns } = view.screen
  return [
    ...hang('  effect: ', printable(effect), columns),
    ...hang('  fix:    ', printable(remedy), columns),
    ...here.flatMap((cause) => causeLines(cause, document, view)),
  ]
}

function causeLines(
  { message, problems }: Cause,
  { directory }: LintDocument,
  { screen, verbose }: LintView,
): string[] {
  const here = problems.slice(0, verbose ? Infinity : most.places)
  const more = problems.length - here.length
  const said = (text: string): string[] => hang('  - ', printable(text), screen.columns)
  return [
    ...(message === null ? [] : said(message)),
    ...here.flatMap((problem) => [
      ...(message === null ? said(problem.message) : []),
      ...placeLines(problem, directory, screen, verbose),
    ]),
    ...(more > 0 ? [`      and ${grouped(more)} more: --verbose shows all`] : []),
  ]
}

function placeLines(problem: LintProblem, directory: string, { columns }: Screen, verbose: boolean): string[] {
  const { file, place, result, together } = problem
  if (together && together.length > 0) return togetherLines(problem, together, columns, verbose)
  const length = verbose ? Infinity : longest
  const test = testOf(result, length)
  const where = `${file === '.' ? directory : file}${place === undefined ? '' : `, ${short(place, length)}`}`
  return hang('      ', printable(test === null ? where : `${where}: ${test}`), columns)
}

function togetherLines(
  { result, togetherCount }: LintProblem,
  together: readonly LintedTogether[],
  columns: number,
  verbose: boolean,
): string[] {
  const length = verbose ? Infinity : longest
  const here = together.slice(0, verbose ? Infinity : most.together)
  const more = (togetherCount ?? together.length) - here.length
  const fullName = result?.fullName ?? together[0]?.fullName
  return [
    ...(fullName === undefined ? [] : hang('      ', `${printable(short(fullName, length))}:`, columns)),
    ...here.flatMap((it) => hang('        ', printable(`${it.file}: ${aboutOf(it, length)}`), columns)),
    ...(more > 0 ? [`        and ${grouped(more)} more`] : []),
  ]
}

function aboutOf({ name, status, start }: LintedTogether, length: number): string {
  return [
    name === undefined ? 'without a name' : short(name, length),
    status,
    start === undefined ? undefined : timeOf(start),
  ]
    .filter(Boolean)
    .join(', ')
}

/** Returns a time as text; undefined if it is invalid, as a file may hold any number. */
function timeOf(milliseconds: number): string | undefined {
  const at = new Date(milliseconds)
  return Number.isNaN(at.getTime()) ? undefined : moment(at)
}

function undetermined(
  { undetermined: list, undeterminedCount }: LintDocument,
  { screen, verbose }: LintView,
  paint: Paint,
): string[] {
  if (undeterminedCount === 0) return []
  const here = list.slice(0, verbose ? Infinity : most.undetermined)
  const more = undeterminedCount - here.length
  return [
    `${badge('unknown', paint)}  ${amount(undeterminedCount, 'file')} could not be checked`,
    ...here.flatMap(({ file, message }) => hang('  - ', printable(`${file}: ${message}`), screen.columns)),
    ...(more > 0 ? [`    and ${grouped(more)} more${list.length > here.length ? ': --verbose shows them' : ''}`] : []),
  ]
}

function verdict(document: LintDocument, groups: readonly RuleGroup[], { screen, exitCode }: LintView): string[] {
  const { directory, directories, fix } = document
  const said = tally(document) || 'Nothing is wrong with the copy'
  const worst = groups[0]
  const isMended = !fix && directories.length === 1 && groups.some(({ rule }) => isMendable(rule))
  return [
    ...hang('', `${said}. Exit code ${exitCode}.`, screen.columns),
    ...(worst ? [command`Next: testops-admin explain ${worst.rule}`] : []),
    ...(isMended
      ? [
          `      ${printable(typed(['testops-admin', 'lint-results', directory, '--fix', '--output']))} DIR   ` +
            '# writes a corrected copy',
        ]
      : []),
  ]
}

/** Maximum number shown of what was not fixed, and of what is not in the copy */
const mostLeft = 5

/** True if `--fix` can fix what the rule finds. */
function isMendable(rule: RuleId): boolean {
  return rule === 'nested-attachment' || rule === 'long-field'
}

/** Returns what was fixed in the copy, what was not and why, and what is not in it. */
function fixLines({ from, output, files, mended, left, leftCount, omitted }: LintFix, { columns }: Screen): string[] {
  const counts = Object.entries(mended).map(([rule, count]) => `${rule} ${grouped(count)}`)
  return [
    ...hang(
      '',
      printable(
        `Copied ${amount(files, 'file')} from ${from} to ${output}; fixed: ${counts.join(', ') || 'nothing'}. ` +
          'Everything below is about the copy.',
      ),
      columns,
    ),
    ...listed(
      'Not fixed:',
      left.map(
        ({ rule, file, place, message }) => `${rule}: ${file}${place === undefined ? '' : `, ${place}`}: ${message}`,
      ),
      leftCount,
      columns,
    ),
    ...listed(
      'Not in the copy:',
      omitted.map(({ file, message }) => `${file}: ${message}`),
      omitted.length,
      columns,
    ),
  ]
}

function listed(title: string, lines: readonly string[], count: number, columns: number): string[] {
  if (count === 0) return []
  const here = lines.slice(0, mostLeft)
  const more = count - here.length
  return [
    title,
    ...here.flatMap((line) => hang('  - ', printable(line), columns)),
    ...(more > 0 ? [`    and ${grouped(more)} more`] : []),
  ]
}
