import type { ScanDocument } from '../../output/scan/document.ts'
import { scanChanges, scanRows } from '../../output/scan/live.ts'
import { pause } from '../interrupt.ts'
import { screenOf } from '../screen.ts'
import { cursor, draw, tellLine } from '../write.ts'
import type { CursorMove, Printer } from '../write.ts'

export interface Output extends Printer {
  rows?: number
}

const everyMs = 1000

/**
 * Tells what has been found as it comes, until the signal ends it: on a terminal a table that is drawn anew and taken
 * away in the end, else a line where something has come.
 */
export async function tellWhile(document: () => ScanDocument, output: Output, signal: AbortSignal): Promise<void> {
  const screen = screenOf(output)
  const isDrawn = output.isTTY === true && screen.colour
  let before: ScanDocument | null = null
  let drawn = 0
  const clear = (): CursorMove => (drawn === 0 ? cursor.stay : cursor.back(drawn - 1))
  const look = (): void => {
    const now = document()
    if (isDrawn) {
      const lines = scanRows(now, screen, output.rows ?? 24)
      draw(output, clear(), lines.join('\n'))
      drawn = lines.length
    } else for (const line of scanChanges(now, before)) tellLine(output, line)
    before = now
  }
  while (await pause(everyMs, signal)) look()
  if (isDrawn) draw(output, clear(), '')
}
