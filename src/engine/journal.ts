import { AdminError } from '../core/error.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore, Journals } from '../core/run.ts'
import { progressOf } from '../core/run-state.ts'
import { dropCopy, missingFrom, unlessBug } from './records.ts'
import type { Standing } from './records.ts'

export interface JournalOptions {
  /** user@host */
  by: string
  failpoint: Failpoint
}

/** The journal of one run, on this machine and, where possible, in the deployment. */
export interface RunJournal {
  /** Throws UNAVAILABLE if this machine cannot write it, REFUSED if somebody else writes to the deployment's copy */
  append(event: RunEvent): Promise<void>
  /** Events that this process wrote, oldest first */
  readonly written: readonly RunEvent[]
  /** Why the deployment keeps no copy; null: it keeps one */
  readonly onlyHere: string | null
  /** Keeps a text beside the journal on this machine and returns its path; null: it cannot be kept */
  keep(name: string, text: string): Promise<string | null>
  /** Returns the text kept by that name; null: there is none */
  kept(name: string): Promise<string | null>
  /** Closes the journal, and removes the deployment's copy if `finished`. Never throws */
  close(finished: boolean): Promise<void>
}

/**
 * Begins the journal of a new run, on this machine and then in the deployment. Throws UNAVAILABLE if this machine
 * cannot write it; nothing has been changed then.
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
 * Continues an existing journal. First writes to each place the events that only the other has. The `redo` events go to
 * this machine in the same write, so that events of others never stand without them. Throws as `RunStore.reopen`.
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
  /** Records that the deployment has all events: a copy that disappears later differs from one that never existed */
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
  /** Writes all events that the copy lacks; a failure becomes the reason */
  update(): Promise<void>
  reason(): string | null
  close(finished: boolean): Promise<void>
}

/** Longest write to the copy, in milliseconds; after a slower failure the copy waits until the journal is closed */
const patienceMs = 3000

/**
 * The copy is a second chance. If it is lost, the run continues with the journal on this machine, and the copy is
 * completed later if possible.
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
      // another process resumed this very run, and no lock of ours has stopped it
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
    `the deployment's copy of the record of run ${run} has more events than the record on this machine. ` +
      'Somebody else has resumed the run or changed the copy',
    ['testops-admin doctor -d {deployment}', dropCopy(run)],
  )
}

/** Returns the deployment's copy; null if there is none, or its writer was killed before the first line. */
async function ifAny(store: RunStore, run: string): Promise<RunHistory | null> {
  try {
    return await store.read(run)
  } catch (error) {
    if (error instanceof AdminError && (error.code === 'USAGE' || error.code === 'REFUSED')) return null
    // another place takes the copy if one of the deployment's places is out of reach
    if (error instanceof AdminError && ((await store.unseen?.()) ?? null) !== null) return null
    throw error
  }
}
