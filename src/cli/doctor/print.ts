import type { DoctorReport } from '../../core/report.ts'
import { doctorChanges } from '../../output/doctor/changes.ts'
import { fitted } from '../../output/doctor/fitted.ts'
import { doctorShort } from '../../output/doctor/short.ts'
import { doctorTable } from '../../output/doctor/table.ts'
import type { DoctorView } from '../../output/doctor/view.ts'
import type { Screen } from '../../output/screen.ts'
import { jsonText } from '../json.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { cursor, draw, print } from '../write.ts'
import type { Printer } from '../write.ts'

export const formats = ['table', 'short', 'json'] as const
export type Format = (typeof formats)[number]

/** Returns the report in the given format, without secrets. */
export function reportText(report: DoctorReport, format: Format, view: DoctorView): string {
  const shown = withoutSecretsIn(report)
  if (format === 'json') return jsonText(shown)
  return format === 'short' ? doctorShort(shown, view.screen) : doctorTable(shown, view)
}

/** Rows below the report: an empty line, the closing line, and the cursor's row */
const footRows = 3

/** Prints one round of a watch: redraws a terminal, and adds lines elsewhere. */
export function printRound(
  stream: Printer,
  text: string,
  report: DoctorReport,
  before: DoctorReport | null,
  to: { terminal: boolean; screen: Screen; rows: number; intervalMs: number },
): void {
  if (!to.terminal) return print(stream, doctorChanges(report, before, to.screen))
  const {
    rows,
    screen: { columns },
  } = to
  draw(
    stream,
    cursor.home,
    `${fitted(text, { rows: rows - footRows, columns })}\nRepeats every ${to.intervalMs / 1000} s; Ctrl-C stops it.\n`,
  )
}
