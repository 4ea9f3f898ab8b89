import { AdminError } from '../../core/error.ts'
import type { RunHistory, RunStore } from '../../core/run.ts'
import { reopenJournal } from '../../engine/journal.ts'
import { perform, performUndo } from '../../engine/perform.ts'
import type { Performed } from '../../engine/perform.ts'
import { isUnfinished, progressOf, runState } from '../../core/run-state.ts'
import { performanceOf, underLocks } from './carry.ts'
import { confirmed } from './confirm.ts'
import { patienceMs } from './flags.ts'
import type { RepairFlags } from './flags.ts'
import { refuseIfReadOnly } from './read-only.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'

/** Goes on with a run that has not come to its end; null: there is none. `run` null: the only one there is. */
export async function resumeRun(flags: RepairFlags, run: string | null): Promise<Performed | null> {
  refuseIfReadOnly()
  return withDeployment(flags, async (session) => {
    const history = run === null ? await onlyUnfinished(session) : await session.opened.journals.here.read(run)
    if (history === null) return null
    return goOn(flags, session, history)
  })
}

/** Takes over a run that was begun on another machine, from the journal in the deployment, and goes on with it. */
export async function adoptRun(flags: RepairFlags, run: string, words: readonly string[]): Promise<Performed> {
  refuseIfReadOnly()
  return withDeployment(flags, async (session) => {
    const { here, there } = session.opened.journals
    const history = await (await there()).read(run)
    await confirmed({ ...session.opened, confirm: flags.confirm, words, signal: session.signal }, () => tell(history))
    await copyTo(here, history)
    return goOn(flags, session, history)
  })
}

/** Takes back what a run did, a half done one too, and one that was begun on another machine. */
export async function undoRun(flags: RepairFlags, run: string, words: readonly string[]): Promise<Performed | null> {
  refuseIfReadOnly()
  return withDeployment(flags, async (session) => {
    const { journals, deployment } = session.opened
    const history = await anywhere(session, run)
    if (progressOf(history.events).touched.length === 0) return null
    await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => tell(history))
    await copyTo(journals.here, history)
    return underLocks(session, `undo ${history.record.plan.repair}`, async (guard) => {
      const { record, events } = await journals.here.read(run)
      const journal = await reopenJournal(journals, run)
      return performUndo(performanceOf(session, { record, events, journal, guard, patienceMs: patienceMs(flags) }))
    })
  })
}

async function goOn(flags: RepairFlags, session: RepairSession, { record }: RunHistory): Promise<Performed> {
  const { journals } = session.opened
  return underLocks(session, `resume ${record.plan.repair}`, async (guard) => {
    // whoever held the locks may have finished it
    const { events } = await journals.here.read(record.run)
    if (!isUnfinished({ record, events })) throw finished(record.run, runState({ record, events }).state)
    const journal = await reopenJournal(journals, record.run)
    return perform(performanceOf(session, { record, events, journal, guard, patienceMs: patienceMs(flags) }))
  })
}

/** From this machine's journal, else from the deployment's. Throws USAGE where neither has it. */
async function anywhere({ opened: { journals } }: RepairSession, run: string): Promise<RunHistory> {
  try {
    return await journals.here.read(run)
  } catch (error) {
    if (!(error instanceof AdminError) || error.code !== 'USAGE') throw error
    const there = await journals.there().then(async (store) => store.read(run)).catch(() => null)
    if (there) return there
    throw error
  }
}

async function onlyUnfinished({ opened }: RepairSession): Promise<RunHistory | null> {
  const histories = await opened.journals.here.list()
  const unfinished = histories.flatMap((it) => ('record' in it && isUnfinished(it) ? [it] : []))
  if (unfinished.length < 2) return unfinished[0] ?? null
  throw new AdminError(
    'USAGE',
    `several runs have not come to their end: ${unfinished.map(({ record }) => record.run).join(', ')}`,
    unfinished.map(({ record }) => `testops-admin resume ${record.run}`),
  )
}

/** Keeps the record and its events on this machine too, unless a former adoption did. */
async function copyTo(here: RunStore, { record, events }: RunHistory): Promise<void> {
  const known = await here.list()
  if (known.some((it) => 'record' in it && it.record.run === record.run)) return
  const log = await here.begin(record)
  for (const event of events) await log.append(event)
  await log.close()
}

function finished(run: string, state: string): AdminError {
  return new AdminError('REFUSED', `run ${run} has come to its end: ${state}`, ['testops-admin history -d {deployment}'])
}

function tell(history: RunHistory): void {
  const { run, repair, by, startedAt, done, steps, within } = runState(history)
  const at = within === null ? '' : `, within: ${within}`
  process.stderr.write(`Run ${run}: ${repair} by ${by}, begun ${startedAt}; ${done} of ${steps} steps done${at}\n`)
}
