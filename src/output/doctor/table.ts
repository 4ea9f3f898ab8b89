import type { DoctorReport } from '../../core/report.ts'
import { paintFor } from '../paint.ts'
import type { Paint } from '../paint.ts'
import type { Screen } from '../screen.ts'
import { clip, countOf, hang, pad, printable, widthOf } from '../text.ts'
import { lotOf, lotsOf } from './lots.ts'
import type { Lot } from './lots.ts'
import { badge, oneLine, statusWord } from './status.ts'
import { tell } from './stories.ts'
import { verdict } from './verdict.ts'
import type { DoctorView } from './view.ts'
import type { Remedy } from '../../core/check.ts'
import type { Story } from './stories.ts'

/**
 * Returns the report for people. Each root cause is a story; then come the checks that could not be determined, the
 * skipped ones, the healthy ones and the verdict. Prose is wrapped. Evidence and commands are never broken, so that
 * they can be copied.
 */
export function doctorTable(report: DoctorReport, view: DoctorView): string {
  const paint = paintFor(view.screen)
  const told = tell(report)
  const calm = told.stories.length === 0 && told.unknown.length === 0
  const showOk = calm || view.verbose
  const skipped = view.verbose ? told.skipped.map(lotOf) : lotsOf(told.skipped, ({ reason }) => reason, told.all)
  const blocks = [
    [...heading(report, view.screen, paint), ...foundLines(report, view.screen)],
    ...told.stories.map((story) => storyLines(story, view, paint)),
    ...lotsOf(told.unknown, ({ error }) => error, told.all).map((lot) => unknownLines(lot, view.screen, paint)),
    rows([...(showOk ? told.ok.map(lotOf) : []), ...skipped], view, paint),
    !showOk && told.ok.length > 0
      ? [`${countOf(told.ok.length, 'other check is', 'other checks are')} ok (--verbose lists them).`]
      : [],
    verdict(told, view.exitCode, view.screen),
  ]
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function heading(report: DoctorReport, { columns }: Screen, paint: Paint): string[] {
  const { deployment, platform, build, checks, durationMs } = report
  const about = printable(build === null ? platform : `${platform}, build ${build}`)
  const effort = `${countOf(checks.length, 'check')} in ${(durationMs / 1000).toFixed(1)} s`
  const name = printable(deployment)
  const [first = '', ...rest] = hang('', `${name} (${about}): ${effort}`, columns)
  return [first.startsWith(name) ? paint.strong(name) + first.slice(name.length) : first, ...rest]
}

/** Says which deployment this is about, if no configuration says it. */
function foundLines({ found }: DoctorReport, { columns }: Screen): string[] {
  return found === undefined ? [] : hang('', `Found without a configuration: ${printable(found)}`, columns)
}

function unknownLines({ check, names: [first = '', ...others] }: Lot, screen: Screen, paint: Paint): string[] {
  const message = `Could not be determined: ${printable(check.error?.message ?? 'no reason was given')}`
  return [
    `${badge('unknown', paint)}  ${paint.strong(first)}`,
    ...(others.length > 0 ? hang('  Likewise: ', others.join(', '), screen.columns) : []),
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
  return lots.flatMap(({ check, names: [first = '', ...others] }) => {
    const word = statusWord(check)
    const left = `${pad(`x ${word}`, 9)}  ${pad(first, width)}  `
    const [line = '', ...rest] =
      check.status === 'ok' && !verbose
        ? [clip(left + oneLine(check), screen.columns)]
        : hang(left, oneLine(check), screen.columns)
    const likewise =
      others.length > 0 ? hang(' '.repeat(widthOf(left)), `Likewise: ${others.join(', ')}`, screen.columns) : []
    return [badge(word, paint) + line.slice(`x ${word}`.length), ...rest, ...likewise]
  })
}

/** Returns a root cause: what is wrong, the evidence, its consequences, and the repair. */
function storyLines({ root, explained, unjudged }: Story, { screen }: DoctorView, paint: Paint): string[] {
  const { columns } = screen
  const lines = [`${badge(statusWord(root), paint)}  ${paint.strong(root.id)}`]
  for (const { message, evidence } of root.findings ?? []) {
    lines.push(...hang('  ', printable(message), columns))
    for (const text of evidence)
      lines.push(...text.split(/\r?\n/).map((line) => paint.faint(`      ${printable(line)}`)))
  }
  if (explained.length > 0) {
    const width = Math.max(...explained.map(({ id }) => widthOf(id)))
    lines.push(
      '  It causes:',
      ...explained.flatMap((check) => hang(`      ${pad(check.id, width)}  `, oneLine(check), columns)),
    )
  }
  if (unjudged.length > 0)
    lines.push(...hang('  Not judged because of it: ', unjudged.map(({ id }) => id).join(', '), columns))
  return root.remedy ? [...lines, ...remedyLines(root.remedy, columns)] : lines
}

function remedyLines({ text, commands, risk, undo }: Remedy, columns: number): string[] {
  return [
    ...hang('  Repair: ', printable(text), columns),
    ...commands.map((command) => `      ${printable(command)}`),
    ...(risk ? hang('  Risk: ', printable(risk), columns) : []),
    ...(undo ? hang('  Undo: ', printable(undo), columns) : []),
  ]
}
