import type { Screen } from '../output/paint.ts'

interface Stream {
  isTTY?: boolean
  columns?: number
}

/** Returns what a stream can show. Only a terminal has colours, and none with NO_COLOR or TERM=dumb. */
export function screenOf(stream: Stream, environment: NodeJS.ProcessEnv = process.env): Screen {
  const terminal = stream.isTTY === true
  return {
    columns: terminal ? Math.max(40, stream.columns || 80) : 80,
    colour: terminal && !environment.NO_COLOR && environment.TERM !== 'dumb',
  }
}
