import type { CheckReport, DoctorReport, Remedy } from '../../core/check.ts'
import { moment } from '../../core/format.ts'
import { inEnglish } from '../../core/translation.ts'
import type { Say } from '../../core/translation.ts'
import type { Paint, Screen } from '../paint.ts'
import { badge, badgeWidth, oneLine, paintFor, plainBadge, saying, statusWord } from '../paint.ts'
import { clip, countOf, hang, pad, printable, widthOf, withOwnTimesHere, withTimesHere } from '../text.ts'
import type { Lot, Story } from './verdict.ts'
import { changesTold, lotOf, lotsOf, summary, suppressionText, tell, verdict } from './verdict.ts'

/** Returns one line for each check, in the catalogue's order, for `grep` and for logs. Lines are never broken. */
export function doctorShort(report: Pick<DoctorReport, 'checks'>, screen: Screen): string {
  const width = Math.max(0, ...report.checks.map(({ id }) => widthOf(id)))
  return report.checks.map((check) => `${shortLine(check, width, screen)}\n`).join('')
}

export function shortLine(check: CheckReport, idWidth: number, screen: Screen): string {
  const word = statusWord(check)
  const say = saying(screen)
  const because = check.because === undefined ? '' : `${say(`(because of ${printable(check.because)})`)} `
  const gap = ' '.repeat(badgeWidth(say) - widthOf(plainBadge(word, say)))
  const said = withTimesHere(lineOf(check, screen))
  return `${badge(word, paintFor(screen), say)}${gap}  ${pad(check.id, idWidth)}  ${because}${said}`
}

/** Returns what to say about a check in one line; if it is ok and another language is spoken, its title comes first. */
function lineOf(check: CheckReport, { say }: Screen): string {
  if (check.suppressed !== undefined) return printable(suppressionText(check, saying({ say })))
  const found = oneLine(check)
  const title = printable(check.title)
  return say === undefined || check.status !== 'ok' || found === title ? found : `${title}: ${found}`
}

/**
 * Returns the report for people. Each root cause is a story; then come the checks that could not be determined, the
 * skipped ones, the healthy ones and the verdict. Prose is wrapped. Evidence and commands are never broken, so that
 * they can be copied.
 */
export function doctorTable(report: DoctorReport, view: DoctorView): string {
  return textOf([...doctorBlocks(report, view), verdict(tell(report), view.exitCode, view.screen)])
}

/** Returns blocks of lines as one text, with an empty line between them. */
export function textOf(blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

/** Returns the blocks of a report without its verdict. */
export function doctorBlocks(report: DoctorReport, view: DoctorView): string[][] {
  const paint = paintFor(view.screen)
  const say = saying(view.screen)
  const told = tell(report)
  const calm = told.stories.length === 0 && told.unknown.length === 0
  const showOk = calm || view.verbose
  const skipped = view.verbose ? told.skipped.map(lotOf) : lotsOf(told.skipped, ({ reason }) => reason, told.all)
  return [
    [...heading(report, view.screen, paint), ...foundLines(report, view.screen)],
    ...told.stories.map((story, at) => storyLines(story, told.stories[at - 1]?.root, view, paint)),
    (told.stories.length === 0 ? [] : (report.events?.unseen ?? [])).flatMap((why) =>
      hang('', say(`Some changes could not be looked up: ${printable(why)}`), view.screen.columns),
    ),
    ...lotsOf(told.unknown, ({ error }) => error, told.all).map((lot) => unknownLines(lot, view.screen, paint)),
    rows([...(showOk ? told.ok.map(lotOf) : []), ...skipped], view, paint),
    view.verbose ? told.suppressed.flatMap((check) => suppressedLines(check, view.screen)) : [],
    !view.verbose && told.suppressed.length > 0
      ? [
          told.suppressed.length === 1
            ? say('1 problem is suppressed (--verbose lists it).')
            : say(`${told.suppressed.length} problems are suppressed (--verbose lists them).`),
        ]
      : [],
    !showOk && told.ok.length > 0
      ? [say(`${countOf(told.ok.length, 'other check is', 'other checks are')} ok (--verbose lists them).`)]
      : [],
  ]
}

function heading(report: DoctorReport, screen: Screen, paint: Paint): string[] {
  const { deployment, platform, build, checks, durationMs } = report
  const { columns } = screen
  const say = saying(screen)
  const about = printable(build === null ? platform : say(`${platform}, build ${build}`))
  const effort = say(`${countOf(checks.length, 'check')} in ${(durationMs / 1000).toFixed(1)} s`)
  const name = printable(deployment)
  const [first = '', ...rest] = hang('', `${name} (${about}): ${effort}`, columns)
  return [first.startsWith(name) ? paint.strong(name) + first.slice(name.length) : first, ...rest]
}

/** Says which deployment this is about, if no configuration says it. */
function foundLines({ found }: DoctorReport, screen: Screen): string[] {
  const say = saying(screen)
  return found === undefined ? [] : hang('', say(`Found without a configuration: ${printable(found)}`), screen.columns)
}

function unknownLines({ check, names: [first = '', ...others] }: Lot, screen: Screen, paint: Paint): string[] {
  const say = saying(screen)
  const message = `${say('Could not be determined:')} ${printable(check.error?.message ?? say('no reason was given'))}`
  return [
    `${badge('unknown', paint, say)}  ${paint.strong(first)}`,
    ...titleLines(check, screen),
    ...(others.length > 0 ? hang(`  ${say('Same for:')} `, others.join(', '), screen.columns) : []),
    ...hang('  ', message, screen.columns),
    ...(check.error?.suggestions ?? [])
      .flatMap((text) => text.split(/\r?\n/))
      .map((line) => `      ${printable(line)}`),
  ]
}

/**
 * Returns a line for each lot: badge, name, detail. Cuts details of healthy ones at the screen's edge unless `verbose`.
 */
function rows(lots: readonly Lot[], { screen, verbose }: DoctorView, paint: Paint): string[] {
  const width = Math.max(0, ...lots.map(({ names: [first = ''] }) => widthOf(first)))
  const say = saying(screen)
  return lots.flatMap(({ check, names: [first = '', ...others] }) => {
    const word = statusWord(check)
    const sign = plainBadge(word, say)
    const left = `${pad(sign, badgeWidth(say))}  ${pad(first, width)}  `
    const said = others.length > 0 ? oneLine(check) : lineOf(check, screen)
    const [line = '', ...rest] =
      check.status === 'ok' && !verbose
        ? [clip(withTimesHere(left + said), screen.columns)]
        : hang(left, said, screen.columns)
    const same = `${say('Same for:')} ${others.join(', ')}`
    const likewise = others.length > 0 ? hang(' '.repeat(widthOf(left)), same, screen.columns) : []
    return [badge(word, paint, say) + line.slice(sign.length), ...rest, ...likewise]
  })
}

/** Says how a check should end, in another language than what was found; in English, that says it. */
function titleLines({ title }: CheckReport, { say, columns }: Screen): string[] {
  return say === undefined ? [] : hang('  ', say(`Should be: ${printable(title)}.`), columns)
}

/** Returns a root cause: what is wrong, the evidence, its consequences, and the repair. */
function storyLines(
  { root, explained, unjudged }: Story,
  before: CheckReport | undefined,
  { screen }: DoctorView,
  paint: Paint,
): string[] {
  const { columns } = screen
  const say = saying(screen)
  const lines = [`${badge(statusWord(root), paint, say)}  ${paint.strong(root.id)}`, ...titleLines(root, screen)]
  for (const { message, evidence } of root.findings ?? []) {
    lines.push(...hang('  ', printable(message), columns))
    for (const text of evidence)
      lines.push(...text.split(/\r?\n/).map((line) => paint.faint(`      ${withOwnTimesHere(printable(line))}`)))
  }
  if (root.ignoredUntil !== undefined)
    lines.push(...hang('  ', say(`The configuration ignored this until ${printable(root.ignoredUntil)}.`), columns))
  if (explained.length > 0) {
    const width = Math.max(...explained.map(({ id }) => widthOf(id)))
    lines.push(
      `  ${say('Consequences:')}`,
      ...explained.flatMap((check) => hang(`      ${pad(check.id, width)}  `, oneLine(check), columns)),
    )
  }
  if (unjudged.length > 0)
    lines.push(...hang(`  ${say('Blocked checks:')} `, unjudged.map(({ id }) => id).join(', '), columns))
  const changes = changesTold(root, before, say)
  if (changes) {
    lines.push(...hang('  ', changes.head, columns))
    lines.push(
      ...changes.lines.flatMap(({ at, message }) =>
        hang(at === '' ? '      ' : `      ${withTimesHere(at)}  `, printable(message), columns),
      ),
    )
  }
  return root.remedy ? [...lines, ...remedyLines(root.remedy, screen)] : lines
}

/** Returns what an ignored check found, and why it is ignored. */
function suppressedLines({ id, suppressed }: CheckReport, screen: Screen): string[] {
  const { reason = '', until = '', severity = 'error', findings = [] } = suppressed ?? {}
  const { columns } = screen
  const say = saying(screen)
  const grave = severity === 'error' ? say('error') : say('warning')
  return [
    ...hang('', printable(say(`Suppressed until ${until}: ${id} (${grave}). Reason: ${reason}`)), columns),
    ...findings.flatMap(({ message }) => hang('  ', printable(message), columns)),
  ]
}

function remedyLines({ text, commands, risk, undo, lacks, grant = [] }: Remedy, screen: Screen): string[] {
  const { columns } = screen
  const say = saying(screen)
  return [
    ...hang(`  ${say('Repair:')} `, printable(text), columns),
    ...commands.map((command) => `      ${printable(command)}`),
    ...(lacks ? hang(`  ${say('Missing right:')} `, printable(lacks), columns) : []),
    ...grant.map((command) => `      ${printable(command)}`),
    ...(risk ? hang(`  ${say('Risk:')} `, printable(risk), columns) : []),
    ...(undo ? hang(`  ${say('Undo:')} `, printable(undo), columns) : []),
  ]
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')
/** Rows of the line that says how much was left out, with an empty line before and after */
const gapRows = 3

/**
 * Cuts a report to the rows of a screen, so that the next one can be drawn in its place. Keeps its beginning, and its
 * last lines with the verdict.
 */
export function fitted(
  text: string,
  { rows, columns, say = inEnglish }: { rows: number; columns: number; say?: Say | undefined },
): string {
  const lines = text.trimEnd().split('\n')
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(widthOf(line.replaceAll(colours, '')) / columns))
  const taken = (some: readonly string[]): number => some.reduce((sum, line) => sum + rowsOf(line), 0)
  if (taken(lines) <= rows) return `${lines.join('\n')}\n`
  const last = lines.slice(lines.lastIndexOf('') + 1)
  const room = rows - taken(last) - gapRows
  const first: string[] = []
  for (const line of lines.slice(0, lines.length - last.length)) {
    if (taken(first) + rowsOf(line) > room) break
    first.push(line)
  }
  const left = lines.length - first.length - last.length
  const cut = say(`(${countOf(left, 'more line does', 'more lines do')} not fit on this terminal)`)
  return `${[...first, '', cut, '', ...last].join('\n')}\n`
}

export interface DoctorView {
  screen: Screen
  /** null: it is not said */
  exitCode: number | null
  /** Lists healthy checks even if there are problems, and shows every detail in full */
  verbose: boolean
}

/**
 * Returns one round of a watch, for logs: the time, the summary, and a line for each check whose outcome has changed.
 */
export function doctorChanges(report: DoctorReport, before: DoctorReport | null, screen: Screen): string {
  const at = withTimesHere(moment(new Date(Date.parse(report.startedAt) + report.durationMs)))
  const earlier = new Map(before?.checks.map((check) => [check.id, statusWord(check)]))
  const changed = report.checks.filter((check) => statusWord(check) !== (before ? earlier.get(check.id) : 'ok'))
  const width = Math.max(0, ...changed.map(({ id }) => id.length))
  return [
    `${at} ${printable(summary(tell(report), saying(screen)))}`,
    ...changed.map((check) => `${at}   ${shortLine(check, width, screen)}`),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
