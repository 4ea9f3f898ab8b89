import type { CheckReport } from '../../core/report.ts'
import type { Paint } from '../paint.ts'
import { printable } from '../text.ts'

/** The outcome of a check, in one word. */
export type StatusWord = 'ok' | 'warning' | 'error' | 'skipped' | 'unknown'

export function statusWord(check: Pick<CheckReport, 'status' | 'severity'>): StatusWord {
  return check.status === 'problem' ? (check.severity ?? 'error') : check.status
}

const signs: Record<StatusWord, string> = { ok: '✔', warning: '!', error: '✖', skipped: '-', unknown: '?' }

/** Returns a sign and a word: colour alone says nothing. */
export function badge(word: StatusWord, paint: Paint): string {
  const colours: Record<StatusWord, (text: string) => string> = {
    ok: paint.good,
    warning: paint.warn,
    error: paint.bad,
    skipped: paint.faint,
    unknown: paint.doubt,
  }
  return colours[word](`${signs[word]} ${word}`)
}

/** Returns what to say about a check in one line. */
export function oneLine(check: CheckReport): string {
  return printable(check.findings?.[0]?.message ?? check.error?.message ?? check.reason ?? check.detail ?? check.title)
}
