import { AdminError } from '../core/error.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore } from '../core/run.ts'
import { progressOf } from '../core/run-state.ts'
import { dropCopy, missingFrom, unlessBug } from './records.ts'
import type { Journals } from '../core/run.ts'
import type { Standing } from './records.ts'

export interface JournalOptions {
  /** user@host */
  by: string
  failpoint: Failpoint
}

/** The journal of one run, on this machine and, as far as it can be had, in the deployment. */
export interface RunJournal {
  /**
   * throws UNAVAILABLE where this machine cannot keep it, REFUSED where somebody else writes to the deployment's copy
   */
  append(event: RunEvent): Promise<void>
  /** by this process, oldest first */
  readonly written: readonly RunEvent[]
  /** why the deployment keeps no copy; null: it does */
  readonly onlyHere: string | null
  /** keeps a text beside the journal of this machine, and gives where; null: it cannot be kept */
  keep(name: string, text: string): Promise<string | null>
  /** what was kept so; null: nothing is there */
  kept(name: string): Promise<string | null>
  /** `finished`: what the deployment keeps of it is not needed any more. Never throws */
  close(finished: boolean): Promise<void>
}

/**
 * Begins the journal of a new run, here and then in the deployment. Throws UNAVAILABLE where this machine cannot keep
 * it; nothing has been changed then.
 */
export async function beginJournal(
  journals: Journals,
  record: RunRecord,
  options: JournalOptions,
): Promise<RunJournal> {
  const log = await journals.here.begin(record)
  await options.failpoint('begin:recorded')
  return journalOf(journals, { record, events: [] }, log, options)
}

/**
 * Goes on with one: first each of the two places is told what the other one knows, and that the steps of `redo` are
 * performed again, in one: what others have written is never on record here without it. Throws as `RunStore.reopen`.
 */
export async function reopenJournal(
  journals: Journals,
  { whole: found, here }: Standing,
  options: JournalOptions,
  redo: readonly RunEvent[] = [],
): Promise<RunJournal> {
  const { record } = found
  const history = { record, events: [...found.events, ...redo] }
  const { run } = record
  if ('history' in here) {
    const log = await journals.here.reopen(run)
    const missing = missingFrom('here', { here: here.history, there: history }, journals.here.where)
    if (missing.length > 0) await log.append(...missing)
    return journalOf(journals, history, log, options)
  }
  await options.failpoint('adopt:before')
  if ('unreadable' in here) await journals.here.remove(run)
  await options.failpoint('adopt:aside')
  const log = await journals.here.begin(record, history.events)
  await options.failpoint('adopt:here')
  return journalOf(journals, history, log, options)
}

async function journalOf(
  journals: Journals,
  { record, events }: RunHistory,
  log: RunLog,
  { by, failpoint }: JournalOptions,
): Promise<RunJournal> {
  const all = [...events]
  const written: RunEvent[] = []
  const copy = copyOf(journals, record, all)
  let { isCopied } = progressOf(events)
  const write = async (event: RunEvent): Promise<void> => {
    await log.append(event)
    all.push(event)
    written.push(event)
    await failpoint('journal:here')
    await copy.update()
  }
  /** once the deployment has all, so that a copy that is gone later can be told from one that never was */
  const noteCopy = async (): Promise<void> => {
    if (isCopied || copy.reason() !== null) return
    isCopied = true
    await failpoint('begin:copied')
    await write({ at: new Date().toISOString(), by, event: 'copied' })
  }
  await copy.update()
  await noteCopy()
  return {
    written,
    get onlyHere() {
      return copy.reason()
    },
    async append(event) {
      await write(event)
      await noteCopy()
    },
    keep: async (name, text) => (await journals.here.keep?.(record.run, name, text).catch(unlessBug)) ?? null,
    kept: async (name) => (await journals.here.keptText?.(record.run, name)) ?? null,
    async close(finished) {
      await log.close().catch(() => undefined)
      await copy.close(finished)
    },
  }
}

interface Copy {
  /** writes there what it lacks, however much that is; a failure is kept as the reason */
  update(): Promise<void>
  reason(): string | null
  close(finished: boolean): Promise<void>
}

/** how long a deployment that does not answer is waited for while steps are to be done */
const patienceMs = 3000

/**
 * The copy is a second chance: where it is lost half way, the run goes on under the first, and it is completed when it
 * can be.
 */
function copyOf({ here, there }: Journals, record: RunRecord, all: readonly RunEvent[]): Copy {
  let log: RunLog | null = null
  let known = 0
  let why: string | null = null
  let isSlow = false

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    const begin = performance.now()
    try {
      await work()
      why = null
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      why = error.message
      // somebody else goes on with this very run, which no lock of ours has kept them from
      if (error.code === 'REFUSED') throw error
      isSlow = performance.now() - begin > patienceMs
      await log?.close().catch(() => undefined)
      log = null
    }
  }
  const open = async (): Promise<void> => {
    const store = await there()
    const kept = await ifAny(store, record.run)
    if (kept !== null) missingFrom('there', { here: { record, events: all }, there: kept }, here.where)
    if (kept !== null && kept.events.length > all.length) throw longerCopy(record.run)
    known = kept === null ? all.length : kept.events.length
    log = kept === null ? await store.begin(record, all) : await store.reopen(record.run)
  }
  const update = async (): Promise<void> =>
    attempt(async () => {
      if (log === null) await open()
      while (known < all.length) {
        await log!.append(all[known]!)
        known += 1
      }
    })
  return {
    async update() {
      if (!isSlow) await update()
    },
    reason: () => why,
    async close(finished) {
      if (!finished && why !== null) await update().catch(unlessBug)
      await log?.close().catch(() => undefined)
      log = null
      if (finished) await attempt(async () => (await there()).remove(record.run)).catch(unlessBug)
    },
  }
}

function longerCopy(run: string): AdminError {
  return new AdminError(
    'REFUSED',
    `the deployment's copy of the journal of run ${run} has events that the journal on this machine lacks: somebody else has resumed the run, or has written to the copy`,
    ['testops-admin doctor -d {deployment}', dropCopy(run)],
  )
}

/** Null where the deployment has none, or one that was killed before its first line. */
async function ifAny(store: RunStore, run: string): Promise<RunHistory | null> {
  try {
    return await store.read(run)
  } catch (error) {
    if (error instanceof AdminError && (error.code === 'USAGE' || error.code === 'REFUSED')) return null
    // where one of its places is out of reach, another takes it
    if (error instanceof AdminError && ((await store.unseen?.()) ?? null) !== null) return null
    throw error
  }
}
