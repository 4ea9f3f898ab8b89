import { AdminError } from '../../core/error.ts'
import type { Plan } from '../../core/plan.ts'
import type { RepairDocument } from '../../core/repair.ts'
import type { RunRecord } from '../../core/run.ts'
import { newRunName } from '../../core/run.ts'
import type { Secret } from '../../core/secret.ts'
import { unlessAborted } from '../../core/work.ts'
import { overIn } from '../../domain/foreign-run/standing.ts'
import type { RunResult } from '../../engine/carry-out.ts'
import { carryOut, documentOf } from '../../engine/carry-out.ts'
import { beginJournal } from '../../engine/journal.ts'
import type { AnyRepair } from '../../engine/plan.ts'
import { foresee, lackedRights, makePlan, refuseIfStale } from '../../engine/plan.ts'
import { forgetFinished } from '../../engine/records.ts'
import { fillCommand, fillPlan } from '../../engine/remedy.ts'
import { runError } from '../../engine/steps.ts'
import { planText } from '../../output/plan.ts'
import { printable } from '../../output/text.ts'
import { screenOf, print, tellLine } from '../write.ts'
import { journalOptions, runOf, underLocks } from './carry.ts'
import { confirmed, refuseOtherName } from './confirm.ts'
import { refuseIfReadOnly } from './read-only.ts'
import type { RepairFlags } from './flags.ts'
import { patienceMs, refuseRisks, refuseUnknownRisks } from './flags.ts'
import { refuseIfUnfinished } from './list-runs.ts'
import type { RepairSession } from './session.ts'
import { filledError, withDeployment } from './session.ts'

export interface Wish {
  repair: AnyRepair
  options: Readonly<Record<string, unknown>>
  /** Secrets that no record contains, by the names of their settings */
  given?: ReadonlyMap<string, Secret>
  /** A plan that was saved earlier: the plan made now must be the same */
  saved?: Plan
  /** Words after the program's name, as typed */
  words: readonly string[]
  /** Version of this program */
  version: string
}

/**
 * Makes a plan, shows it, has it confirmed, and applies it under the journal and the locks (DESIGN.md 6). Throws
 * AdminError before there is a plan; from then on a failure is part of the document.
 */
export async function runRepair(flags: RepairFlags, wish: Wish): Promise<RunResult> {
  refuseUnknownRisks(flags['accept-risk'] ?? [])
  if (!(flags['dry-run'] ?? false)) refuseIfReadOnly()
  return withDeployment(flags, async (session) => repairIn(session, flags, wish))
}

/** Like `runRepair`, on an open deployment. */
export async function repairIn(session: RepairSession, flags: RepairFlags, wish: Wish): Promise<RunResult> {
  const { opened, signal } = session
  const isDry = flags['dry-run'] ?? false
  // an unfinished run may be why this one cannot be planned, or finds nothing to do
  const plan = await planOf(session, wish).catch(async (error: unknown) => {
    if (!isDry && error instanceof AdminError && error.code !== 'INTERRUPTED')
      await refuseIfUnfinishedOrBusy(session, wish.repair.id)
    throw error
  })
  try {
    const difference = await differenceOf(session, plan)
    if (isDry) print(process.stderr, difference)
    if (isDry) {
      const told = await withRights(session, await withUnfinished(session, plan))
      return { document: documentOf(told, { outcome: 'planned' }), exitCode: 0 }
    }
    refuseOtherName({ deployment: opened.deployment, confirm: flags.confirm, words: wish.words })
    await refuseIfUnfinishedOrBusy(session, plan.repair)
    if (wish.saved) refuseIfStale(wish.saved, plan)
    if (plan.steps.length === 0) return { document: documentOf(plan, { outcome: 'nothing-to-do' }), exitCode: 0 }
    refuseRisks(plan, flags['accept-risk'] ?? [], wish.words)
    // an operator who confirmed a plan by its file's name may never have read it
    const isShown = wish.saved !== undefined
    if (isShown) show(plan, difference)
    await confirmed({ deployment: opened.deployment, confirm: flags.confirm, words: wish.words, signal }, () =>
      isShown ? undefined : show(plan, difference),
    )
    if (flags.confirm !== undefined && !isShown) print(process.stderr, difference)
    return await underLocks(session, { what: plan.repair, plan }, async (guard) => {
      await forgetFinished(opened.journals, overIn(session.opened))
      await refuseIfUnfinished(session)
      const now = await planOf(session, wish)
      refuseIfStale(plan, now)
      const record = { ...recordOf(now, session, wish, flags), ...(await workloadIn(session)) }
      const journal = await beginJournal(opened.journals, record, journalOptions(session))
      tellWhere(record, opened.deployment.file ? null : journal.onlyHere)
      return carryOut(
        runOf(session, {
          record,
          events: [],
          journal,
          guard,
          patienceMs: patienceMs(flags),
          ...(wish.given && { given: wish.given }),
          ...(flags.others && { others: flags.others }),
        }),
      )
    })
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return { document: notBegun(plan, error, session), exitCode: error.exitCode }
  }
}

/**
 * Throws REFUSED if another run is unfinished. If somebody is working on it right now, throws BUSY with their name
 * instead of offering to adopt it.
 */
async function refuseIfUnfinishedOrBusy(session: RepairSession, what: string): Promise<void> {
  try {
    await refuseIfUnfinished(session)
  } catch (error) {
    await underLocks(session, { what }, async () => undefined)
    throw error
  }
}

/** Returns the plan, with a note if an unfinished run would have it refused now. */
async function withUnfinished(session: RepairSession, plan: Plan): Promise<Plan> {
  try {
    await refuseIfUnfinished(session)
    return plan
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    const next = filledError(error, session.opened).suggestions.map((command) => `\`${command}\``)
    return {
      ...plan,
      notes: [
        ...plan.notes,
        `at the moment, testops-admin would refuse this repair: ${[error.message, ...next].join('; ')}`,
      ],
    }
  }
}

/** Returns the plan, with a note for each step for which this user lacks a right. */
async function withRights(session: RepairSession, plan: Plan): Promise<Plan> {
  const lacked = await lackedRights(plan, session.opened)
  if (lacked.length === 0) return plan
  const notes = lacked.map(({ step, error }) => {
    const next = filledError(error, session.opened).suggestions.map((command) => `\`${command}\``)
    const what = error.code === 'REFUSED' ? 'may be refused' : 'would fail for a missing right'
    return `step ${step + 1} ${what}: ${[error.message, ...next].join('; ')}`
  })
  return { ...plan, notes: [...plan.notes, ...notes] }
}

/** Makes the plan. That changes nothing, so an interruption need not wait for the answers. */
async function planOf({ opened, signal }: RepairSession, { repair, options }: Wish): Promise<Plan> {
  const plan = await unlessAborted(
    makePlan(repair, opened.open, opened.deployment, options),
    signal,
    () => signal.reason as Error,
  )
  return foresee(fillPlan(plan, opened.deployment, opened.commands), opened.journals, opened.deployment)
}

/** Returns the document of a plan that was not begun, with the reason. */
function notBegun(plan: Plan, error: AdminError, { opened: { deployment, commands } }: RepairSession): RepairDocument {
  const outcome =
    error.code === 'INTERRUPTED'
      ? 'interrupted'
      : error.code === 'REFUSED' || error.code === 'BUSY'
        ? 'refused'
        : 'failed'
  return documentOf(plan, { outcome, error: runError(error, (command) => fillCommand(command, deployment, commands)) })
}

/** Returns the workload, by which the run is found again if the deployment gets another name. */
async function workloadIn({ opened }: RepairSession): Promise<Pick<RunRecord, 'workload'>> {
  const workload = (await opened.workload?.()) ?? null
  return workload === null ? {} : { workload }
}

function recordOf(plan: Plan, { by }: RepairSession, { version }: Wish, flags: RepairFlags): RunRecord {
  const startedAt = new Date().toISOString()
  return {
    schemaVersion: 1,
    run: newRunName(plan.repair, startedAt),
    program: version,
    by,
    startedAt,
    plan,
    acceptedRisks: flags['accept-risk'] ?? [],
  }
}

function show(plan: Plan, difference: string): void {
  print(process.stderr, `${planText(plan, screenOf(process.stderr))}\n${difference}`)
}

function tellWhere({ run }: RunRecord, onlyHere: string | null): void {
  tellLine(process.stderr, `Run ${run}`)
  if (onlyHere !== null)
    tellLine(process.stderr, `    The record of this run is saved only on this machine: ${onlyHere}`)
}

/**
 * Returns what a plan changes in files, line by line; '' if it changes none. It is shown but stored nowhere, since a
 * line may hold a secret.
 */
async function differenceOf({ opened }: Pick<RepairSession, 'opened'>, { steps }: Plan): Promise<string> {
  const parts: string[] = []
  for (const { action } of steps) {
    if (action.kind !== 'edit-values') continue
    const lines = (await (await opened.open.files()).difference(action.file, action.edits)).split('\n').filter(Boolean)
    parts.push(`${printable(action.file)}\n${lines.map((line) => `    ${printable(line)}\n`).join('')}`)
  }
  return parts.join('')
}
