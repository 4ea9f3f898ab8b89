import type { DoctorReport } from '../../core/report.ts'
import type { Screen } from '../screen.ts'
import { shortLine } from './short.ts'
import { printable } from '../text.ts'
import { statusWord } from './status.ts'
import { tell } from './stories.ts'
import { summary } from './verdict.ts'

/**
 * Returns one round of a watch, for logs: the time, the summary, and a line for each check whose outcome has changed.
 */
export function doctorChanges(report: DoctorReport, before: DoctorReport | null, screen: Screen): string {
  const at = new Date(Date.parse(report.startedAt) + report.durationMs).toISOString().slice(0, 19)
  const earlier = new Map(before?.checks.map((check) => [check.id, statusWord(check)]))
  const changed = report.checks.filter((check) => statusWord(check) !== (before ? earlier.get(check.id) : 'ok'))
  const width = Math.max(0, ...changed.map(({ id }) => id.length))
  return [
    `${at}Z ${printable(summary(tell(report)))}`,
    ...changed.map((check) => `${at}Z   ${shortLine(check, width, screen)}`),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
