import type { ScanDocument } from '../../output/scan/document.ts'
import { scanChanges, scanRows } from '../../output/scan/live.ts'
import { pause } from '../interrupt.ts'
import { screenOf } from '../screen.ts'

export interface Output {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
  rows?: number
}

const everyMs = 1000

/**
 * Tells what has been found as it comes, until the signal ends it: on a terminal a table that is drawn anew and taken away in the end,
 * else a line where something has come.
 */
export async function tellWhile(document: () => ScanDocument, output: Output, signal: AbortSignal): Promise<void> {
  const screen = screenOf(output)
  const isDrawn = output.isTTY === true && screen.colour
  let before: ScanDocument | null = null
  let drawn = 0
  const clear = (): string => (drawn === 0 ? '' : `\r${drawn > 1 ? `\u001b[${drawn - 1}A` : ''}\u001b[J`)
  const look = (): void => {
    const now = document()
    if (isDrawn) {
      const lines = scanRows(now, screen, output.rows ?? 24)
      output.write(`${clear()}${lines.join('\n')}`)
      drawn = lines.length
    } else for (const line of scanChanges(now, before)) output.write(`${line}\n`)
    before = now
  }
  while (await pause(everyMs, signal)) look()
  if (isDrawn) output.write(clear())
}
