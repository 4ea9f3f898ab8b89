import { traitsOf } from '../../knowledge/platforms.ts'
import { isNoteOfMoves } from '../../core/notes.ts'
import { AdminError } from '../../core/error.ts'
import { moment } from '../../core/format.ts'
import { typed } from '../../core/typed.ts'
import type { RunEvent, RunHistory, WorkloadIdentity, Journals } from '../../core/run.ts'
import { isSameWorkload, isUnfinished, progressOf, runState, workloadOf } from '../../core/run-state.ts'
import { forgetFinished, onRecord, standingOf } from '../../engine/records.ts'
import type { OnRecord, Standing } from '../../engine/records.ts'
import { reopenJournal } from '../../engine/journal.ts'
import { carryOut, carryOutUndo, documentOf } from '../../engine/carry-out.ts'
import { whyNotUndone, losesAll, stepsToUndo } from '../../engine/undo.ts'
import type { Run } from '../../engine/run.ts'
import type { RunResult } from '../../engine/carry-out.ts'
import type { Guard } from '../../engine/locks.ts'
import type { Compared } from '../../engine/compare.ts'
import { canonical } from '../../engine/plan.ts'
import { patienceMs, refuseRisks, refuseUnknownRisks } from './flags.ts'
import { journalOptions, runOf, underLocks } from './carry.ts'
import { comparedIn, redoneIn, refuseSecondMigration, undoneIn } from './compare-record.ts'
import { confirmed, refuseOtherName } from './confirm.ts'
import { refuseIfReadOnly } from './read-only.ts'
import { isForeign, refuseForeign, refuseUnlessFits } from './foreign.ts'
import { refuseIfUnfinished, unknownEnd, withoutOver } from './list-runs.ts'
import type { RepairFlags } from './flags.ts'
import { nextText } from '../../output/error-text.ts'
import { planText } from '../../output/plan.ts'
import { adoptCommand, planOfRecord, recordText } from '../../output/record.ts'
import { takeBackText } from '../../output/repair.ts'
import { screenOf, print, tellLine } from '../write.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'
import { command } from '../../core/shell-command.ts'
import { leftStanding, overIn } from '../../domain/foreign-run/standing.ts'

export interface Going {
  /** Null for the only unfinished run */
  run: string | null
  /** True to adopt the journal of a run that began on another machine, which must be confirmed */
  adopt: boolean
  /** Words after the program's name, as typed */
  words: readonly string[]
}

/** Resumes an unfinished run in its direction, forward or undoing; returns null if there is none. */
export async function resumeRun(flags: RepairFlags, going: Going): Promise<RunResult | null> {
  refuseUnknownRisks(flags['accept-risk'] ?? [])
  if (!isDry(flags)) refuseIfReadOnly()
  return withDeployment(flags, async (session) => resumeIn(session, flags, going))
}

/** Like `resumeRun`, on an open deployment. */
export async function resumeIn(
  session: RepairSession,
  flags: RepairFlags,
  { run: named, adopt, words }: Going,
): Promise<RunResult | null> {
  const { journals, deployment } = session.opened
  refuseOtherName({ deployment, confirm: flags.confirm, words })
  const run = named ?? (await onlyUnfinished(session))
  if (run === null) return null
  const standing = await standingOf(journals, run, { adopt })
  await refuseIfOthers(standing, session, flags, words)
  if (await isOver(standing, session)) {
    if (!isDry(flags))
      await underLocks(session, { what: `resume ${standing.history.record.plan.repair}` }, async () =>
        forgetFinished(journals, overIn(session.opened)),
      )
    return null
  }
  if (isCalledOver(standing) && !isDry(flags) && (await closed(session, flags, standing))) return null
  await refuseUnlessFits(session, standing)
  show(standing, session, flags)
  const isBack = progressOf(standing.history.events).isGoingBack
  if (isBack) tellBack(standing)
  if (isDry(flags)) return planned(standing)
  await refuseSecondMigration(session, standing, isBack, flags, words)
  if (isForeign(standing)) {
    refuseForeign(standing, flags, words)
    await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => undefined)
  }
  return underLocks(
    session,
    { what: `resume ${standing.history.record.plan.repair}`, plan: standing.history.record.plan },
    async (guard) => {
      // another operator who held the locks may have finished it
      const now = await standingOf(journals, run, { adopt })
      if (await isOver(now, session)) {
        await forgetFinished(journals, overIn(session.opened))
        return null
      }
      refuseChanged(standing, now)
      if (now.isGone && flags.confirm === undefined) throw gone(run)
      const redo = await redoneIn(session, flags, now, guard)
      const performance = await goingOn(session, flags, now, guard, redo)
      if (!progressOf(now.history.events).isGoingBack) return carryOut(performance)
      const why = await whyNotUndone(performance)
      if (why === null) return carryOutUndo(performance)
      tellLine(process.stderr, `The undo cannot continue: ${why.message}. Resuming the repair instead of undoing it.`)
      return carryOut(performance)
    },
  )
}

/**
 * True if the run is over by what this machine itself knows. A run of another machine must leave nothing unfinished
 * either.
 */
async function isOver(standing: Standing, session: RepairSession): Promise<boolean> {
  if (!isForeign(standing)) return !isUnfinished(standing.history)
  return overIn(session.opened)(standing.whole)
}

/** True if only the deployment's copy says that a run of this machine is over. */
function isCalledOver(standing: Standing): boolean {
  return !isForeign(standing) && isUnfinished(standing.history) && !isUnfinished(standing.whole)
}

/**
 * Ends a run of this machine that only the deployment's copy calls over, if the deployment shows that it is. Returns
 * true if it did.
 */
async function closed(session: RepairSession, flags: RepairFlags, standing: Standing): Promise<boolean> {
  const { journals } = session.opened
  const { run, plan } = standing.history.record
  return underLocks(session, { what: `resume ${plan.repair}`, plan }, async (guard) => {
    const now = await standingOf(journals, run, { adopt: false })
    if (!isCalledOver(now)) return false
    await refuseUnlessFits(session, now)
    const compared = await comparedIn(session, flags, now, guard)
    if (!isAllDone(now, compared) && !(isAllBack(now, compared) && (await leftStanding(session.opened)).length === 0))
      return false
    await (await reopenJournal(journals, now, journalOptions(session))).close(true)
    await forgetFinished(journals, overIn(session.opened))
    return true
  })
}

function isAllDone({ history, here }: Standing, { differing, repeated }: Compared): boolean {
  const { done } = progressOf(history.events)
  // a machine that has moved nothing has nothing to compare with what others have moved
  const own = 'history' in here ? here.history.events : []
  const hasMoved = own.some((event) => event.event === 'noted' && isNoteOfMoves(event.note))
  const counts = differing.filter(({ step, isNote }) => step !== null && (hasMoved || !isNote))
  return history.record.plan.steps.every((_, step) => done.has(step)) && counts.length === 0 && repeated.size === 0
}

/** True if the run is undone. The steps that are left may only have looked and waited. */
function isAllBack(
  {
    history: {
      record: { plan },
      events,
    },
  }: Standing,
  { differing }: Compared,
): boolean {
  const left = progressOf(events).touched.map((step) => plan.steps[step]!)
  return (
    stepsToUndo(plan, events).length === 0 &&
    left.every(({ loses }) => loses === undefined) &&
    differing.every(({ step, isNote }) => step === null || isNote)
  )
}

/**
 * Undoes what a run did, also an unfinished run or one from another machine; returns null if there is nothing to undo.
 */
export async function undoRun(flags: RepairFlags, run: string, words: readonly string[]): Promise<RunResult | null> {
  refuseUnknownRisks(flags['accept-risk'] ?? [])
  if (!isDry(flags)) refuseIfReadOnly()
  return withDeployment(flags, async (session) => undoIn(session, flags, run, words))
}

/** Like `undoRun`, on an open deployment. */
export async function undoIn(
  session: RepairSession,
  flags: RepairFlags,
  run: string,
  words: readonly string[],
): Promise<RunResult | null> {
  const { journals, deployment } = session.opened
  refuseOtherName({ deployment, confirm: flags.confirm, words })
  const standing = await standingOf(journals, run, { adopt: true })
  await refuseIfOthers(standing, session, flags, words)
  if (progressOf(standing.history.events).ended?.outcome === 'undone') return null
  const isLost = losesAll(standing.history)
  if (isLost && !isUnfinished(standing.history)) throw lost(run)
  if (isUndone(standing.history) && standing.foreign === 0) return null
  // a finished run was left as it should be, and another run may build on it now
  if (await isOver(standing, session)) await refuseIfUnfinished(session)
  await refuseUnlessFits(session, standing)
  if (isLost) tellLine(process.stderr, 'The changes of this run cannot be undone. This command only closes the run.')
  show(standing, session, flags)
  tellBack(standing)
  if (isDry(flags)) return planned(standing)
  await refuseSecondMigration(session, standing, true, flags, words)
  if (isForeign(standing)) refuseForeign(standing, flags, words)
  await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => undefined)
  return underLocks(
    session,
    { what: `undo ${standing.history.record.plan.repair}`, plan: standing.history.record.plan },
    async (guard) => {
      const now = await standingOf(journals, run, { adopt: true })
      if (isUndone(now.history) && now.foreign === 0) return null
      refuseChanged(standing, now)
      if (await isOver(now, session)) await refuseIfUnfinished(session)
      const redo = await undoneIn(session, flags, now, guard)
      return carryOutUndo(await goingOn(session, flags, now, guard, redo))
    },
  )
}

/**
 * True if nothing is left to undo. A run killed before it touched anything has nothing to undo, but must still be
 * ended.
 */
function isUndone({ record, events }: RunHistory): boolean {
  return stepsToUndo(record.plan, events).length === 0 && !isUnfinished({ record, events })
}

/**
 * Throws REFUSED if the deployment's part of the record has changed since it was shown: only what was shown is carried
 * out.
 */
function refuseChanged(seen: Standing, now: Standing): void {
  const isSame = canonical(seen.whole, new Set()) === canonical(now.whole, new Set())
  if (isSame || (now.foreign === 0 && !isForeign(now))) return
  const { run } = now.history.record
  throw new AdminError(
    'REFUSED',
    `Nothing was changed: the saved record of run ${run} in the deployment has changed since it was shown to you`,
    [
      isForeign(now)
        ? command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`
        : command`testops-admin resume ${run} -d {deployment} --dry-run`,
    ],
  )
}

async function goingOn(
  session: RepairSession,
  flags: RepairFlags,
  standing: Standing,
  guard: Guard,
  redo: readonly RunEvent[],
): Promise<Run> {
  const { journals } = session.opened
  await forgetFinished(journals, overIn(session.opened))
  const { record, events } = standing.whole
  const added = [...endTakenBack(session, standing), ...redo]
  const journal = await reopenJournal(journals, standing, journalOptions(session), added)
  if (journal.onlyHere !== null && !session.opened.deployment.file)
    tellLine(process.stderr, `The record of this run is saved only on this machine: ${journal.onlyHere}`)
  return runOf(session, {
    record,
    events: [...(isForeign(standing) ? withoutLastCompared(events) : events), ...added],
    journal,
    guard,
    patienceMs: patienceMs(flags),
    ...(flags.others && { others: flags.others }),
  })
}

/** Returns an event that overrides an end which only others recorded, so that a resume after a kill ignores it too. */
function endTakenBack({ by }: RepairSession, { history, whole }: Standing): RunEvent[] {
  if (progressOf(whole.events).ended === progressOf(history.events).ended) return []
  return [{ at: new Date().toISOString(), by, event: 'ended', outcome: 'interrupted' }]
}

/**
 * Masks what others say was compared last, as nothing has been moved since: it is compared again. Each event keeps its
 * place.
 */
function withoutLastCompared(events: readonly RunEvent[]): RunEvent[] {
  const last = events.findLastIndex((event) => event.event === 'noted' && isNoteOfMoves(event.note, ['begun', 'moved']))
  return events.map((event, index) =>
    index > last && event.event === 'noted' && isNoteOfMoves(event.note, ['compared'])
      ? { at: event.at, by: event.by, event: 'copied' }
      : event,
  )
}

async function onlyUnfinished(session: RepairSession): Promise<string | null> {
  const { opened } = session
  const found = await onRecord(opened.journals)
  const all = await withoutOver(session, found.all)
  const unfinished = all.flatMap((it) => ('record' in it && it.isHere && isUnfinished(it) ? [it.record.run] : []))
  if (unfinished.length === 1) return unfinished[0]!
  if (unfinished.length > 1) {
    throw new AdminError(
      'USAGE',
      `several runs are unfinished: ${unfinished.join(', ')}`,
      unfinished.map((run) => command`testops-admin resume ${run} -d {deployment}`),
    )
  }
  const others = all.flatMap((it) => ('record' in it && !it.isHere ? [it.record.run] : []))
  if (others.length === 0) return assertAllKnown(opened.journals, found)
  throw new AdminError(
    'USAGE',
    `this machine has no run to resume; unfinished runs from other machines: ${others.join(', ')}`,
    others.map((run) => command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`),
  )
}

/** Returns null, for no unfinished run, only if all runs could be read. Throws what is in the way. */
function assertAllKnown(journals: Journals, { all, unasked }: OnRecord): null {
  const damaged = all.find((it) => 'unreadable' in it)
  if (damaged && 'unreadable' in damaged) throw unknownEnd(damaged, journals)
  if (unasked === null) return null
  const message = `this machine has no run to resume; cannot tell whether another machine has one: ${unasked.message}`
  throw new AdminError(unasked.code, message, unasked.suggestions, { cause: unasked, obstacle: unasked.obstacle })
}

/**
 * Throws REFUSED if the run belongs to another deployment. Deployments may share a broker, and so a place for journals.
 * A state folder may be copied. The current context of kubectl or docker may now be another, with a deployment of the
 * same name.
 */
async function refuseIfOthers(
  { history }: Standing,
  { by, opened }: RepairSession,
  flags: RepairFlags,
  words: readonly string[],
): Promise<void> {
  const { record } = history
  const { run, plan } = record
  const workload = workloadOf(history)
  const {
    deployment: { name, cluster },
  } = opened
  const { cluster: former } = plan.target
  // another user, or another machine, may reach the same cluster by another address
  if (plan.deployment === name && record.by === by && cluster !== former) {
    throw new AdminError(
      'REFUSED',
      `Nothing changed: run ${run} was started on ${former ?? 'this machine'}, but this deployment is on ` +
        `${cluster ?? 'this machine'}`,
      [...traitsOf(opened.deployment).choosing, command`testops-admin history -d ${name}`],
    )
  }
  const own = workload && ((await opened.workload?.()) ?? null)
  if (own && isSameWorkload(own, workload)) return refuseMadeAgain(run, own, workload, flags, words)
  if (own) {
    throw new AdminError(
      'REFUSED',
      `Nothing changed: run ${run} belongs to ${inWords(workload)}, but deployment \`${name}\` runs as ${inWords(own)}`,
      [typed(['testops-admin', 'history', '-d', plan.deployment])],
    )
  }
  if (plan.deployment === name) return
  if (traitsOf(opened.deployment).namesWorkloads && former !== undefined && cluster === former)
    return refuseUntold(history, name, flags, words)
  throw new AdminError(
    'REFUSED',
    `Nothing changed: run ${run} belongs to deployment \`${plan.deployment}\`, but this is deployment \`${name}\``,
    [typed(['testops-admin', 'history', '-d', plan.deployment])],
  )
}

/**
 * Throws REFUSED unless the risk is accepted. A former version did not record a run's workload: under another name, at
 * the same place, it may be this one.
 */
function refuseUntold(
  { record: { run, plan, program } }: RunHistory,
  name: string,
  flags: RepairFlags,
  words: readonly string[],
): void {
  const message =
    `run ${run} was recorded for deployment \`${plan.deployment}\`, but may have changed this deployment, ` +
    `\`${name}\`: both are in the same cluster and namespace, and testops-admin ${program} did not record the workload`
  refuseRisks(
    { risks: [{ name: 'record-differs', message, proof: ['testops-admin history -d {deployment}', '{status}'] }] },
    flags['accept-risk'] ?? [],
    words,
  )
}

/**
 * Throws REFUSED if the workload was recreated since, unless that risk is accepted: it may lack what the run did and
 * noted there.
 */
function refuseMadeAgain(
  run: string,
  own: WorkloadIdentity,
  seen: WorkloadIdentity,
  flags: RepairFlags,
  words: readonly string[],
): void {
  if (seen.uid === undefined || own.uid === undefined || seen.uid === own.uid) return
  const message =
    `${inWords(own)} has been deleted and recreated since run ${run} began, so the run's changes may be lost ` +
    `(uid was ${seen.uid}, now ${own.uid})`
  refuseRisks(
    { risks: [{ name: 'record-differs', message, proof: ['testops-admin history -d {deployment}'] }] },
    flags['accept-risk'] ?? [],
    words,
  )
}

function inWords({ kind, namespace, name }: WorkloadIdentity): string {
  return `${kind} \`${name}\` in namespace \`${namespace}\``
}

function lost(run: string): AdminError {
  return new AdminError('REFUSED', `run ${run} cannot be undone: its changes are permanent`, [
    'testops-admin history -d {deployment}',
  ])
}

function gone(run: string): AdminError {
  return new AdminError(
    'REFUSED',
    `the deployment no longer has its copy of the record of run ${run}: most likely another machine finished ` +
      'or undid the run',
    [
      'testops-admin doctor -d {deployment}',
      command`testops-admin resume ${run} -d {deployment} --confirm {deployment}   # resumes the run anyway`,
      command`testops-admin undo ${run} -d {deployment} --confirm {deployment}   # undoes the changes made
        from this machine`,
    ],
  )
}

function tellBack({
  history: {
    record: { plan },
    events,
  },
}: Standing): void {
  print(process.stderr, takeBackText(plan, stepsToUndo(plan, events), screenOf(process.stderr)))
}

/**
 * Prints the whole plan before any of it is carried out; for a record of others, in words made from its actions alone.
 */
function show(standing: Standing, { opened: { deployment } }: RepairSession, flags: RepairFlags): void {
  const { history, isGone } = standing
  const { run, repair, by, startedAt, done, steps, within } = runState(history)
  const screen = screenOf(process.stderr)
  if (isForeign(standing)) {
    print(process.stderr, recordText(history, screen))
    if (isDry(flags)) {
      const risks = ['foreign-run', ...history.record.plan.risks.map(({ name }) => name)]
      tellLine(process.stderr, 'Adopt the run only if you are sure of every value above.')
      print(process.stderr, nextText(adoptCommand(run, deployment, risks)))
    }
    return
  }
  const at = within === null ? '' : `, in the middle of: ${within}`
  const begun = `${repair} by ${by}, begun ${moment(startedAt)}`
  tellLine(process.stderr, `Run ${run}: ${begun}; ${done} of ${steps} steps done${at}`)
  // a dry run prints it as its result
  if (!isDry(flags)) print(process.stderr, planText(history.record.plan, screen))
  if (isGone)
    tellLine(
      process.stderr,
      'The deployment no longer has its copy of the record of this run: another machine may have finished or ' +
        'undone the run.',
    )
}

function isDry(flags: RepairFlags): boolean {
  return flags['dry-run'] ?? false
}

/** Returns the plan of a recorded run, and carries nothing out. */
function planned(standing: Standing): RunResult {
  const { run, plan } = standing.history.record
  const shown = isForeign(standing) ? planOfRecord(plan) : plan
  return { document: { ...documentOf(shown, { outcome: 'planned' }), run }, exitCode: 0 }
}
