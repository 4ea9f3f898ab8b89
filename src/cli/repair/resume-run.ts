import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { RunHistory } from '../../core/run.ts'
import { isUnfinished, progressOf, runState } from '../../core/run-state.ts'
import { forgetFinished, onRecord, standingOf } from '../../engine/catch-up.ts'
import type { Journals, OnRecord, Standing } from '../../engine/catch-up.ts'
import { reopenJournal } from '../../engine/journal.ts'
import { perform, performUndo, whyNotBack } from '../../engine/perform.ts'
import type { Performance, Performed } from '../../engine/perform.ts'
import { losesAll, toTakeBack } from '../../engine/take-back.ts'
import type { Guard } from '../../engine/guard.ts'
import { journalOptions, performanceOf, underLocks } from './carry.ts'
import { confirmed, refuseOtherName } from './confirm.ts'
import { refuseIfUnfinished, unknownEnd } from './list-runs.ts'
import { patienceMs } from './flags.ts'
import type { RepairFlags } from './flags.ts'
import { refuseIfReadOnly } from './read-only.ts'
import { takeBackText } from '../../output/repair.ts'
import { screenOf } from '../screen.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'

export interface Going {
  /** null: the only one that has not come to its end */
  run: string | null
  /** it was begun on another machine: its journal in the deployment is taken over, which is to be confirmed */
  adopt: boolean
  /** the words after the program's name, as they were typed */
  words: readonly string[]
}

/** Goes on with a run that has not come to its end, forward or back as it was going; null: there is none. */
export async function resumeRun(flags: RepairFlags, going: Going): Promise<Performed | null> {
  refuseIfReadOnly()
  return withDeployment(flags, async (session) => resumeIn(session, flags, going))
}

/** The same on a deployment that is open. */
export async function resumeIn(session: RepairSession, flags: RepairFlags, { run: named, adopt, words }: Going): Promise<Performed | null> {
  const { journals, deployment } = session.opened
  refuseOtherName({ deployment, confirm: flags.confirm, words })
  const run = named ?? (await onlyUnfinished(session))
  if (run === null) return null
  const standing = await standingOf(journals, run, { adopt })
  refuseIfOthers(standing, session)
  if (adopt && isUnfinished(standing.history))
    await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => tell(standing))
  return underLocks(session, `resume ${standing.history.record.plan.repair}`, async (guard) => {
    // whoever held the locks may have finished it
    const now = await standingOf(journals, run, { adopt })
    if (!isUnfinished(now.history)) return forgetFinished(journals).then(() => null)
    if (now.isGone && flags.confirm === undefined) throw gone(run)
    const performance = await goingOn(session, flags, now, guard)
    if (!progressOf(now.history.events).isGoingBack) return perform(performance)
    const why = await whyNotBack(performance)
    if (why === null) return performUndo(performance)
    process.stderr.write(`It cannot be taken back any more: ${why.message}. So it goes forward.\n`)
    return perform(performance)
  })
}

/** Takes back what a run did, a half done one too, and one that was begun on another machine; null: there is nothing to take back. */
export async function undoRun(flags: RepairFlags, run: string, words: readonly string[]): Promise<Performed | null> {
  refuseIfReadOnly()
  return withDeployment(flags, async (session) => undoIn(session, flags, run, words))
}

/** The same on a deployment that is open. */
export async function undoIn(session: RepairSession, flags: RepairFlags, run: string, words: readonly string[]): Promise<Performed | null> {
  const { journals, deployment } = session.opened
  refuseOtherName({ deployment, confirm: flags.confirm, words })
  const standing = await standingOf(journals, run, { adopt: true })
  refuseIfOthers(standing, session)
  const isLost = losesAll(standing.history)
  if (isLost && !isUnfinished(standing.history)) throw lost(run)
  if (isUndone(standing.history)) return null
  // what is over was left as it should be, on which another run may stand by now
  if (!isUnfinished(standing.history)) await refuseIfUnfinished(session)
  if (isLost) process.stderr.write('What it did cannot be taken back: the run is only closed.\n')
  await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => tellBack(standing))
  return underLocks(session, `undo ${standing.history.record.plan.repair}`, async (guard) => {
    const now = await standingOf(journals, run, { adopt: true })
    if (isUndone(now.history)) return null
    if (!isUnfinished(now.history)) await refuseIfUnfinished(session)
    return performUndo(await goingOn(session, flags, now, guard))
  })
}

/** A run that was killed before it touched anything has nothing to take back, and still is to be ended. */
function isUndone({ record, events }: RunHistory): boolean {
  return toTakeBack(record.plan, events).length === 0 && !isUnfinished({ record, events })
}

async function goingOn(session: RepairSession, flags: RepairFlags, standing: Standing, guard: Guard): Promise<Performance> {
  const { journals } = session.opened
  await forgetFinished(journals)
  const { record, events } = standing.history
  const journal = await reopenJournal(journals, standing, journalOptions(session))
  if (journal.onlyHere !== null && !session.opened.deployment.file) process.stderr.write(`The journal is on this machine alone: ${journal.onlyHere}\n`)
  return performanceOf(session, { record, events, journal, guard, patienceMs: patienceMs(flags) })
}

async function onlyUnfinished({ opened }: RepairSession): Promise<string | null> {
  const found = await onRecord(opened.journals)
  const { all } = found
  const unfinished = all.flatMap((it) => ('record' in it && it.isHere && isUnfinished(it) ? [it.record.run] : []))
  if (unfinished.length === 1) return unfinished[0]!
  if (unfinished.length > 1) {
    throw new AdminError(
      'USAGE',
      `several runs have not come to their end: ${unfinished.join(', ')}`,
      unfinished.map((run) => `testops-admin resume ${run} -d {deployment}`),
    )
  }
  const others = all.flatMap((it) => ('record' in it && !it.isHere && isUnfinished(it) ? [it.record.run] : []))
  if (others.length === 0) return assertAllKnown(opened.journals, found)
  throw new AdminError(
    'USAGE',
    `this machine has no run to go on with; begun on another one: ${others.join(', ')}`,
    others.map((run) => `testops-admin resume --adopt ${run} -d {deployment} --confirm {deployment}`),
  )
}

/** That all have come to their end is said only where all could be seen. Throws what is in the way. */
function assertAllKnown(journals: Journals, { all, unasked }: OnRecord): null {
  const damaged = all.find((it) => 'unreadable' in it)
  if (damaged && 'unreadable' in damaged) throw unknownEnd(damaged, journals)
  if (unasked === null) return null
  const message = `this machine has no run to go on with; whether one was begun on another is not known: ${unasked.message}`
  throw new AdminError(unasked.code, message, unasked.suggestions, { cause: unasked, obstacle: unasked.obstacle })
}

/**
 * Deployments may share a broker, and with it a place for journals; a state folder may be copied; and the current context of kubectl or
 * docker may be another by now, with a deployment of the same name. Throws REFUSED.
 */
function refuseIfOthers({ history: { record } }: Standing, { by, opened: { deployment: { name, cluster, platform } } }: RepairSession): void {
  const { run, plan } = record
  const { cluster: former } = plan.target
  // another user, or another machine, may reach the same cluster by another address
  if (plan.deployment === name && record.by === by && cluster !== former) {
    throw new AdminError('REFUSED', `run ${run} was begun at ${former ?? 'this machine'}, and this is ${cluster ?? 'this machine'}: nothing was changed`, [
      ...(platform === 'compose' ? ['docker context use NAME   # or DOCKER_HOST, as it was then', 'docker context ls'] : ['kubectl config use-context NAME   # the context of that cluster', 'kubectl config get-contexts']),
    ])
  }
  if (plan.deployment === name) return
  throw new AdminError('REFUSED', `run ${run} is one of deployment \`${plan.deployment}\`, and this is deployment \`${name}\`: nothing was changed`, [
    typed(['testops-admin', 'history', '-d', plan.deployment]),
  ])
}

function lost(run: string): AdminError {
  return new AdminError('REFUSED', `what run ${run} did cannot be taken back: there is no undo`, ['testops-admin history -d {deployment}'])
}

function gone(run: string): AdminError {
  return new AdminError(
    'REFUSED',
    `the deployment kept a copy of the journal of run ${run} and has it no longer: most likely the run was finished or taken back from another machine`,
    [
      'testops-admin doctor -d {deployment}',
      `testops-admin resume ${run} -d {deployment} --confirm {deployment}   # goes on with it all the same`,
      `testops-admin undo ${run} -d {deployment} --confirm {deployment}   # takes back what this machine did`,
    ],
  )
}

function tellBack(standing: Standing): void {
  tell(standing)
  const { record: { plan }, events } = standing.history
  process.stderr.write(takeBackText(plan, toTakeBack(plan, events), screenOf(process.stderr)))
}

function tell({ history, isGone }: Standing): void {
  const { run, repair, by, startedAt, done, steps, within } = runState(history)
  const at = within === null ? '' : `, within: ${within}`
  process.stderr.write(`Run ${run}: ${repair} by ${by}, begun ${startedAt}; ${done} of ${steps} steps done${at}\n`)
  if (isGone) process.stderr.write('The deployment keeps its journal no longer: it may have been finished or taken back from another machine.\n')
}
