import type { Moving } from '../../core/controls.ts'
import { movingLine } from '../../output/repair.ts'
import { clip } from '../../output/text.ts'
import { cursor, draw, tellLine } from '../write.ts'
import type { Printer } from '../write.ts'

/** Prints what a repair reports on standard error while it works. */
export interface Teller {
  /** Prints a line that stays */
  say: (line: string) => void
  /** Prints the progress of long work: one line that moves on a terminal, else a plain line now and then */
  moving: (amount: Moving) => void
  /** Removes the line that moves */
  clear: () => void
}

/** Milliseconds between moves of the line, and between plain lines where nothing can move */
const redrawMs = 100
const plainMs = 10_000

export function tellerOn(stream: Printer, now: () => number = () => performance.now()): Teller {
  let shown = false
  let last: Moving | null = null
  let since = now()
  let told = since
  const clear = (): void => {
    if (shown) draw(stream, cursor.emptyLine, '')
    shown = false
  }
  return {
    clear,
    say(line) {
      clear()
      tellLine(stream, line)
    },
    moving(amount) {
      // a smaller amount, another total or another unit means other work
      if (last === null || amount.unit !== last.unit || amount.done < last.done || amount.total !== last.total) {
        since = now()
        told = stream.isTTY ? -Infinity : since
      }
      last = amount
      if (now() - told < (stream.isTTY ? redrawMs : plainMs)) return
      told = now()
      const line = `    ${movingLine(amount, now() - since)}`
      if (!stream.isTTY) return tellLine(stream, line)
      draw(stream, cursor.emptyLine, clip(line, (stream.columns || 80) - 1))
      shown = true
    },
  }
}
