import type { CheckReport, DoctorReport } from '../../core/report.ts'
import { paintFor } from '../paint.ts'
import type { Screen } from '../screen.ts'
import { badge, oneLine, statusWord } from './status.ts'
import { pad, printable, widthOf } from '../text.ts'

/** Returns one line for each check, in the catalogue's order, for `grep` and for logs. Lines are never broken. */
export function doctorShort(report: Pick<DoctorReport, 'checks'>, screen: Screen): string {
  const width = Math.max(0, ...report.checks.map(({ id }) => widthOf(id)))
  return report.checks.map((check) => `${shortLine(check, width, screen)}\n`).join('')
}

export function shortLine(check: CheckReport, idWidth: number, screen: Screen): string {
  const word = statusWord(check)
  const because = check.because === undefined ? '' : `(because of ${printable(check.because)}) `
  const gap = ' '.repeat(9 - widthOf(`x ${word}`))
  return `${badge(word, paintFor(screen))}${gap}  ${pad(check.id, idWidth)}  ${because}${oneLine(check)}`
}
