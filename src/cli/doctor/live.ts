import type { CheckReport } from '../../core/report.ts'
import { shortLine } from '../../output/doctor/short.ts'
import { clip, countOf } from '../../output/text.ts'
import type { Screen } from '../../output/screen.ts'
import { cursor, draw } from '../write.ts'
import type { Printer } from '../write.ts'

/** A list on a terminal that shows results as they come, until the report replaces it. */
export interface LiveList {
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
          : clip(`… ${countOf(waiting.size, 'check')} running: ${[...waiting].join(', ')}`, screen.columns - 1)
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
