import { onTestFinished } from 'vitest'
import type { LogText } from '../../src/adapters/log-file.ts'

export interface Followed {
  /** `container: line`, or a line alone where there is only one origin */
  lines: string[]
  /** what was told of trouble */
  told: string[]
  stop: AbortController
  /** as soon as it has ended; with what it threw */
  ended: Promise<unknown>
}

/** Follows a log until the test is over. */
export function followed(log: LogText, { since, named = false }: { since?: Date; named?: boolean } = {}): Followed {
  const stop = new AbortController()
  const lines: string[] = []
  const told: string[] = []
  const ended = (async () => {
    for await (const { from, text } of log.follow({
      signal: stop.signal,
      since,
      tell: (message) => void told.push(message),
    }))
      lines.push(named ? `${from}: ${text}` : text)
  })().then(
    () => null,
    (error: unknown) => error,
  )
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  return { lines, told, stop, ended }
}
