import { AdminError } from '../core/error.ts'
import type { RunEvent, RunLog, RunRecord, RunStore } from '../core/run.ts'

/** Where the journals of one deployment are kept. */
export interface Journals {
  /** on this machine */
  here: RunStore
  /** in the deployment itself; throws where it has no place for them */
  there: () => Promise<RunStore>
}

/** The journal of one run, on this machine and, as far as it can be had, in the deployment. */
export interface RunJournal {
  append(event: RunEvent): Promise<void>
  /** by this process, oldest first */
  readonly written: readonly RunEvent[]
  /** why the deployment keeps no copy; null: it does */
  readonly onlyHere: string | null
  /** `finished`: what the deployment keeps of it is not needed any more */
  close(finished: boolean): Promise<void>
}

/** Begins the journal of a new run. Throws UNAVAILABLE where this machine cannot keep it; nothing has been changed then. */
export async function beginJournal({ here, there }: Journals, record: RunRecord): Promise<RunJournal> {
  const log = await here.begin(record)
  return both(log, await copy(there, async (store) => store.begin(record)), record.run)
}

/** Goes on with one. Throws as `RunStore.reopen`. */
export async function reopenJournal({ here, there }: Journals, run: string): Promise<RunJournal> {
  const log = await here.reopen(run)
  return both(log, await copy(there, async (store) => store.reopen(run)), run)
}

type Copy = { store: RunStore; log: RunLog } | { reason: string }

async function copy(there: Journals['there'], open: (store: RunStore) => Promise<RunLog>): Promise<Copy> {
  try {
    const store = await there()
    return { store, log: await open(store) }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return { reason: error.message }
    throw error
  }
}

function both(log: RunLog, other: Copy, run: string): RunJournal {
  let onlyHere = 'reason' in other ? other.reason : null
  /** the copy is a second chance: where it is lost half way, the run goes on under the first */
  const alsoThere = async (work: (kept: Extract<Copy, { log: RunLog }>) => Promise<unknown>): Promise<void> => {
    if ('reason' in other || onlyHere !== null) return
    try {
      await work(other)
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      onlyHere = error.message
    }
  }
  const written: RunEvent[] = []
  return {
    written,
    get onlyHere() {
      return onlyHere
    },
    async append(event) {
      await log.append(event)
      written.push(event)
      await alsoThere(async (kept) => kept.log.append(event))
    },
    async close(finished) {
      await log.close()
      await alsoThere(async (kept) => kept.log.close())
      if (finished) await alsoThere(async (kept) => kept.store.remove?.(run))
    },
  }
}
