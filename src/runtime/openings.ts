import { unlessAborted } from '../core/abort.ts'
import { AdminError } from '../core/error.ts'
import type { Opened } from '../core/endpoint.ts'

/** Opens on first use, shares what was opened, and closes everything once, the last first. */
export interface Openings {
  /** Returns a shared opening; a failure is forgotten, so that a later use tries again */
  share: <T>(open: () => Promise<Opened<T>>) => () => Promise<T>
  /** Closes everything; never throws; closes what is still being opened as soon as it is open */
  close: () => Promise<void>
}

/** Creates shared openings; `signal` cancels what is being opened (INTERRUPTED). */
export function openings({ signal }: { signal?: AbortSignal | undefined } = {}): Openings {
  const opened: (() => Promise<void>)[] = []
  let closing: Promise<void> | null = null

  const openOne = async <T>(open: () => Promise<Opened<T>>): Promise<T> => {
    if (closing || signal?.aborted) throw interrupted()
    const it = await open()
    if (closing || signal?.aborted) {
      await quietly(async () => it.close())
      throw interrupted()
    }
    opened.push(async () => it.close())
    return it.source
  }

  return {
    share(open) {
      let shared: Promise<Awaited<ReturnType<typeof open>>['source']> | null = null
      return () => {
        shared ??= unlessAborted(openOne(open), signal, interrupted).catch((error: unknown) => {
          shared = null
          throw error
        })
        return shared
      }
    },
    close() {
      closing ??= closeAll(opened)
      return closing
    },
  }
}

async function closeAll(opened: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of opened.toReversed()) await quietly(close)
}

async function quietly(close: () => Promise<void>): Promise<void> {
  await close().catch(() => undefined)
}

function interrupted(): AdminError {
  return new AdminError('INTERRUPTED', 'interrupted')
}
