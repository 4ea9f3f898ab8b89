import type { CheckReport, DoctorReport } from '../../core/check.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { doctorChanges, doctorShort, doctorTable, fitted, shortLine } from '../../output/doctor/table.ts'
import { reportIn } from '../../core/translation.ts'
import type { Translation } from '../../core/translation.ts'
import type { DoctorView } from '../../output/doctor/table.ts'
import { saying } from '../../output/paint.ts'
import type { Screen } from '../../output/paint.ts'
import { clip, countOf } from '../../output/text.ts'
import { cursor, draw, jsonText, print } from '../write.ts'
import type { Printer } from '../write.ts'

export const formats = ['table', 'short', 'json'] as const
export type Format = (typeof formats)[number]

/** Formats for other programs, which are loaded when they are asked for. */
export const documentFormats = ['markdown', 'html', 'junit', 'prometheus'] as const
export type DocumentFormat = (typeof documentFormats)[number]

export function isDocument(format: Format | DocumentFormat): format is DocumentFormat {
  return (documentFormats as readonly string[]).includes(format)
}

/** True for a format that is English in every language. */
export function isForPrograms(format: Format | DocumentFormat): boolean {
  return format === 'json' || format === 'junit' || format === 'prometheus'
}

/** Returns the report in the given format, without secrets. JSON is English, whatever is spoken. */
export function reportText(
  report: DoctorReport,
  format: Format,
  { translation, ...view }: DoctorView & { translation?: Translation | null | undefined },
): string {
  const shown = withoutSecretsIn(report)
  if (format === 'json') return jsonText(shown)
  const screen = { ...view.screen, say: translation?.words }
  const told = translation ? reportIn(shown, translation) : shown
  return format === 'short' ? doctorShort(told, screen) : doctorTable(told, { ...view, screen })
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
  const say = saying(to.screen)
  draw(
    stream,
    cursor.home,
    `${fitted(text, { rows: rows - footRows, columns, say: to.screen.say })}\n` +
      `${say(`Repeats every ${to.intervalMs / 1000} s. Press Ctrl-C to stop.`)}\n`,
  )
}

/** A list on a terminal that shows results as they come, until the report replaces it. */
interface LiveList {
  add(report: CheckReport): void
  clear(): void
}

interface Terminal extends Printer {
  rows?: number
}

/** Makes a list; `ids` are those of all checks that will be added. Writes nothing before the first result. */
export function liveList(terminal: Terminal, screen: Screen, ids: readonly string[]): LiveList {
  const idWidth = Math.max(...ids.map((id) => id.length))
  // colours are left out: a line is cut to one row of the terminal, and a cut colour would run on
  const plain = { ...screen, colour: false }
  const say = saying(screen)
  const room = Math.max(2, (terminal.rows ?? 24) - 2)
  const waiting = new Set(ids)
  let lines = 0
  let begun = false
  return {
    add(report) {
      waiting.delete(report.id)
      const result = lines < room - 1 ? `${clip(shortLine(report, idWidth, plain), screen.columns - 1)}\n` : ''
      if (result) lines += 1
      const rest =
        waiting.size === 0
          ? ''
          : clip(
              `… ${say(`${countOf(waiting.size, 'check')} running`)}: ${[...waiting].join(', ')}`,
              screen.columns - 1,
            )
      draw(terminal, cursor.emptyLine, `${result}${rest}`)
      begun = true
    },
    clear() {
      if (!begun) return
      draw(terminal, cursor.back(lines), '')
      lines = 0
      begun = false
    },
  }
}
