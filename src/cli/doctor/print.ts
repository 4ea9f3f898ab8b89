import type { DoctorReport } from '../../core/report.ts'
import { doctorChanges } from '../../output/doctor/changes.ts'
import { doctorShort } from '../../output/doctor/short.ts'
import { doctorTable } from '../../output/doctor/table.ts'
import type { DoctorView } from '../../output/doctor/view.ts'
import type { Screen } from '../../output/screen.ts'
import { jsonText } from '../json.ts'

export const formats = ['table', 'short', 'json'] as const
export type Format = (typeof formats)[number]

/** The report in the format that was asked for. */
export function reportText(report: DoctorReport, format: Format, view: DoctorView): string {
  if (format === 'json') return jsonText(report)
  return format === 'short' ? doctorShort(report, view.screen) : doctorTable(report, view)
}

const home = '\u001b[H\u001b[J'

/** One round of a watch: a terminal is drawn anew, elsewhere lines are added. */
export function roundText(
  text: string,
  report: DoctorReport,
  before: DoctorReport | null,
  to: { terminal: boolean; screen: Screen; intervalMs: number },
): string {
  if (!to.terminal) return doctorChanges(report, before, to.screen)
  return `${home}${text}\nAgain every ${to.intervalMs / 1000} s; Ctrl-C ends.\n`
}
