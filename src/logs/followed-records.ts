import type { FollowedLine, FollowedRecord, FollowOptions, LogRecord } from '../core/sources.ts'
import { recordSplitters } from './records.ts'
import type { RecordSplitter } from './records.ts'

/** A record that is followed by nothing for so long is over: those that belong together are written at once. */
const quietMs = 1000
/** of a record, in characters */
const maxLength = 1_000_000

/**
 * The records of a log that is followed, each as soon as it is over; the lines of several containers may come in turns. What is older
 * than wanted, by its own date, is left out. Throws what following throws.
 */
export async function* followedRecords(follow: (options: FollowOptions) => AsyncIterable<FollowedLine>, timeZone: string | null, options: FollowOptions): AsyncGenerator<FollowedRecord> {
  const stop = new AbortController()
  const lines = follow({ ...options, signal: AbortSignal.any([options.signal, stop.signal]) })[Symbol.asyncIterator]()
  const splitter = recordSplitters(timeZone, maxLength)
  const isWanted = newerThan(options.since)
  const open = new Map<string, { splitter: RecordSplitter; lastAt: number }>()
  try {
    for (let next = lines.next(); ; ) {
      const got = await within(next, Math.min(...[...open.values()].map(({ lastAt }) => lastAt + quietMs)))
      if (got === null || got.done) {
        const now = performance.now()
        for (const [from, it] of open) {
          if (!got?.done && it.lastAt + quietMs > now) continue
          open.delete(from)
          const record = it.splitter.finish()
          if (record && isWanted(from, record)) yield { from, ...record }
        }
        if (got?.done) return
      } else {
        const { from, text } = got.value
        const of = open.get(from) ?? { splitter: splitter(), lastAt: 0 }
        open.set(from, of)
        of.lastAt = performance.now()
        const record = of.splitter.add(text)
        next = lines.next()
        // it is waited for at the next turn, which does not come where nobody asks for more
        next.catch(() => undefined)
        if (record && isWanted(from, record)) yield { from, ...record }
      }
    }
  } finally {
    stop.abort()
    await lines.return?.()
  }
}

/** Null where there is nothing until then, by this machine's steady clock. */
async function within<T>(work: Promise<T>, at: number): Promise<T | null> {
  if (at === Infinity) return work
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), Math.max(0, at - performance.now()) + 1)))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A file is read from somewhere before the time that is wanted. What bears no date goes with what was before it. */
function newerThan(since: Date | undefined): (from: string, record: LogRecord) => boolean {
  const older = new Set<string>()
  return (from, { at }) => {
    if (since === undefined) return true
    if (at !== null && at < since) older.add(from)
    else if (at !== null) older.delete(from)
    return !older.has(from)
  }
}
