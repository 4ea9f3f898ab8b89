import type { Moving } from '../../core/moving.ts'
import { movingLine } from '../../output/progress.ts'
import { clip } from '../../output/text.ts'

/** What a repair says on standard error while it works. */
export interface Teller {
  /** a line that stays */
  say: (line: string) => void
  /** how far a long work is: one line that moves on a terminal, else a plain line now and then */
  moving: (amount: Moving) => void
  /** takes that line away */
  clear: () => void
}

interface Stream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** how often the line moves, and how often a plain one is written where nothing can move */
const redrawMs = 100
const plainMs = 10_000

export function tellerOn(stream: Stream, now: () => number = () => performance.now()): Teller {
  let shown = false
  let last: Moving | null = null
  let since = now()
  let told = since
  const clear = (): void => {
    if (shown) stream.write('\r\u001b[2K')
    shown = false
  }
  return {
    clear,
    say(line) {
      clear()
      stream.write(`${line}\n`)
    },
    moving(amount) {
      // a smaller amount, or one of something else, is another work
      if (last === null || amount.unit !== last.unit || amount.done < last.done || amount.total !== last.total) {
        since = now()
        told = stream.isTTY ? -Infinity : since
      }
      last = amount
      if (now() - told < (stream.isTTY ? redrawMs : plainMs)) return
      told = now()
      const line = `    ${movingLine(amount, now() - since)}`
      if (!stream.isTTY) return void stream.write(`${line}\n`)
      stream.write(`\r\u001b[2K${clip(line, (stream.columns || 80) - 1)}`)
      shown = true
    },
  }
}
