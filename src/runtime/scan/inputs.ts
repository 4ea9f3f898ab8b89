import type { LogPart, LogsSource } from '../../core/sources.ts'
import type { Following } from './run.ts'

/** What is scanned: what is there, and what comes after that where it is followed. */
export interface Inputs {
  readonly parts: readonly LogPart[]
  readonly following: Following | null
}

interface LogWish {
  /** what was written before it is not wanted */
  since?: Date | undefined
  signal: AbortSignal
  /** what comes from now on is wanted, too; is told what keeps it from coming */
  follow?: ((message: string) => void) | null
}

/** clocks of engines and of the service may differ by so much: what is left out there is left out for good */
const marginMs = 60_000

/** The log of a deployment. Throws what its platform throws where it cannot tell its parts. */
export async function inputsOf(logs: LogsSource, { since, signal, follow }: LogWish): Promise<Inputs> {
  const from = since && new Date(since.getTime() - marginMs)
  if (!follow) return { parts: await logs.parts({ signal, since: from }), following: null }
  const parts = await logs.parts({ signal, since: from })
  const files = parts.filter(({ file }) => file !== undefined)
  // a file does not tell where a time begins, and is read whole
  const start = files.length > 0 ? new Date(0) : (from ?? new Date(0))
  return {
    parts: files.filter(({ file }) => file !== logs.target),
    following: (ended) => logs.follow({ signal: ended, since: start, tell: follow }),
  }
}
