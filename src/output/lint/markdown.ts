import { grouped } from '../../core/format.ts'
import { resultRules } from '../../knowledge/result-rules.ts'
import { markdownTable, markdownText } from '../markup.ts'
import type { LintDocument, LintProblem } from './document.ts'
import { amount, extent, groupsOf, tally, testOf } from './words.ts'
import type { Cause, RuleGroup } from './words.ts'

/**
 * Maximum bytes for each rule; GitHub takes 1 MiB for the summary of a step (its documentation, "Adding a job summary")
 */
const mostBytes = 50_000
/** Maximum number of places listed for a cause, and of causes for a rule */
const most = { places: 20, causes: 50 } as const

/**
 * Returns a page for a pipeline's summary: a table of the rules, then for each rule a section with its problems that
 * opens on a click.
 */
export function lintMarkdown(document: LintDocument, exitCode: number): string {
  const groups = groupsOf(document)
  const { directory, settings, off, fix } = document
  const name = markdownText(directory)
  const head = [
    `## ${groups.length === 0 && document.undeterminedCount === 0 ? '✅' : exitCode === 0 ? '⚠️' : '❌'} Results ` +
      `of ${name}`,
    `${markdownText(extent(document))}: ${tally(document) || 'nothing wrong'}. Exit code ${exitCode}.` +
      `${settings === undefined ? '' : ` Settings: ${markdownText(settings)}.`}` +
      `${off.length === 0 ? '' : ` Rules off: ${markdownText(off.join(', '))}.`}`,
    ...(fix
      ? [
          `These results are a copy of ${markdownText(fix.from)}. Fixed in the copy: ${
            Object.entries(fix.mended)
              .map(([rule, count]) => `${rule} ${count}`)
              .join(', ') || 'nothing'
          }.`,
        ]
      : []),
    ...(groups.length === 0
      ? []
      : [
          markdownTable(
            ['rule', 'what is expected', 'problems'],
            groups.map(({ rule, severity, count }) => [
              `\`${rule}\``,
              resultRules[rule].title,
              amount(count, severity),
            ]),
          ),
        ]),
  ]
  return `${[...head, ...groups.map((group) => section(group, document)), ...unread(document)].join('\n\n')}\n`
}

function section({ rule, severity, count, advices }: RuleGroup, document: LintDocument): string {
  const lines = advices.flatMap(({ effect, remedy, causes }) => [
    `**Effect:** ${markdownText(effect)}`,
    '',
    `**Fix:** ${markdownText(remedy)}`,
    '',
    ...causes.slice(0, most.causes).flatMap((cause) => causeLines(cause, document)),
    ...(causes.length > most.causes ? [`- and ${grouped(causes.length - most.causes)} more causes`] : []),
    '',
  ])
  return [
    `<details><summary>${severity === 'error' ? '❌' : '⚠️'} <code>${rule}</code>: ${amount(count, severity)}</summary>`,
    '',
    ...bounded(lines),
    '</details>',
  ].join('\n')
}

function causeLines({ message, problems }: Cause, document: LintDocument): string[] {
  const here = problems
    .slice(0, most.places)
    .flatMap((problem) => [
      ...(message === null ? [`- ${markdownText(problem.message)}`] : []),
      ...places(problem, document),
    ])
  const more = problems.length - most.places
  return [
    ...(message === null ? [] : [`- ${markdownText(message)}`]),
    ...here,
    ...(more > 0 ? [`  - and ${grouped(more)} more`] : []),
  ]
}

function places({ file, place, result, together, togetherCount }: LintProblem, { directory }: LintDocument): string[] {
  if (together && together.length > 0) {
    const more = (togetherCount ?? together.length) - together.length
    const lines = together.map((it) => `  - ${markdownText([it.file, it.name, it.status].filter(Boolean).join(', '))}`)
    return [...lines, ...(more > 0 ? [`  - and ${grouped(more)} more`] : [])]
  }
  const test = testOf(result)
  const where = place === undefined ? '' : `, ${place}`
  const which = test === null ? '' : `: ${test}`
  return [`  - ${markdownText(`${file === '.' ? directory : file}${where}${which}`)}`]
}

function unread({ undetermined, undeterminedCount }: LintDocument): string[] {
  if (undeterminedCount === 0) return []
  const here = undetermined.slice(0, most.places).map(({ file, message }) => `- ${markdownText(`${file}: ${message}`)}`)
  const more = undeterminedCount - here.length
  return [
    `### ${amount(undeterminedCount, 'file')} could not be checked`,
    [...here, ...(more > 0 ? [`- and ${grouped(more)} more`] : [])].join('\n'),
  ]
}

/** Returns as many of the lines as fit. */
function bounded(lines: readonly string[]): string[] {
  let bytes = 0
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > mostBytes)
  return end < 0 ? [...lines] : [...lines.slice(0, end), '', 'The rest of the report does not fit on this page.', '']
}
