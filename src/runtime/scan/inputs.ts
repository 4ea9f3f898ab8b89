import type { LogPart, LogsSource } from '../../core/sources.ts'
import type { Following } from './run.ts'

/** What is scanned: what exists, and what comes after that if the log is followed. */
export interface Inputs {
  readonly parts: readonly LogPart[]
  readonly following: Following | null
}

interface LogWish {
  /** Leaves out what was written before */
  since?: Date | undefined
  signal: AbortSignal
  /** Also reads what comes from now on; receives messages about what keeps it from coming */
  follow?: ((message: string) => void) | null
}

/** Milliseconds by which clocks of engines and of the service may differ: an engine leaves lines out for good */
const marginMs = 60_000

/** Returns the log of a deployment. Throws as its platform does if it cannot list the log's parts. */
export async function inputsOf(logs: LogsSource, { since, signal, follow }: LogWish): Promise<Inputs> {
  const from = since && new Date(since.getTime() - marginMs)
  if (!follow) return { parts: await logs.parts({ signal, since: from }), following: null }
  const parts = await logs.parts({ signal, since: from })
  const files = parts.filter(({ file }) => file !== undefined)
  // a file does not show where a time begins, so it is read whole
  const start = files.length > 0 ? new Date(0) : (from ?? new Date(0))
  return {
    parts: files.filter(({ file }) => file !== logs.target),
    following: (ended) => logs.follow({ signal: ended, since: start, tell: follow }),
  }
}
