import { createHash } from 'node:crypto'
import type { Shortfall, Workshop } from '../actions/index.ts'
import type { Check } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { Plan } from '../core/plan.ts'
import type { RepairDocument } from '../core/repair-document.ts'
import { own } from '../core/own.ts'
import type { RunError, RunEvent, RunRecord } from '../core/run.ts'
import type { ServiceCommands } from '../core/sources.ts'
import { accountOf, shortfallOf } from './account.ts'
import { carryOut } from './carry-out.ts'
import type { CarriedOut } from './carry-out.ts'
import type { Foreign, Running } from './running.ts'
import { giveBackIfRefused } from './give-back.ts'
import type { Guard } from './guard.ts'
import type { RunJournal } from './journal.ts'
import { letGo } from './let-go.ts'
import { exitCodeOfRun, outcomeOf, runError } from './outcome.ts'
import { fillCommand } from './remedy.ts'
import { differingFrom } from './recorded.ts'
import type { Compared } from './recorded.ts'
import { runChecks } from './run-checks.ts'
import { isUnfinished, onlyCloses, progressOf, undoCommand } from '../core/run-state.ts'
import { typed } from '../core/typed.ts'
import { canonical } from './stale.ts'
import { foreseeTakingBack, takeBack } from './take-back.ts'
import { verify } from './verify.ts'
import type { Verification } from './verify.ts'
import { command, withFilled } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface Performance {
  record: RunRecord
  /** on record already */
  events: readonly RunEvent[]
  journal: RunJournal
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint' | 'journal' | 'result' | 'saved' | 'changed'>
  failpoint: Failpoint
  onStep: Running['onStep']
  /** as `Running.foreign` */
  foreign?: Foreign
  by: string
  commands: ServiceCommands | null
  checks: readonly Check[]
}

export interface Performed {
  document: RepairDocument
  exitCode: number
  /** of a bug of this program */
  stack?: string
}

/** how long the checks of a plan may take to be content after its last step, at most */
const settleMs = 30_000

/** Performs what is left of a run, verifies it by its checks, and notes how it ended. Never throws but for a bug. */
export async function perform(performance: Performance): Promise<Performed> {
  const running = runningOf(performance)
  const carried = await letGo(
    running,
    await giveBackIfRefused(running, await carryOut(running), performance.journal.written),
  )
  const { plan, run } = performance.record
  await performance.failpoint('verify:before')
  const verification = carried.failure ? unverified : await verified(performance)
  return conclude(performance, carried, verification, [
    command`testops-admin resume ${run} -d {deployment}`,
    undoCommand({ run, onlyCloses: onlyCloses(plan) }),
  ])
}

/** Takes back what a run did. Throws as `perform`. */
export async function performUndo(performance: Performance): Promise<Performed> {
  const running = runningOf(performance)
  const carried = await letGo(running, await takeBack(running))
  const { run } = performance.record
  const next = isForeseen(carried)
    ? command`testops-admin resume ${run} -d {deployment}   # goes forward`
    : command`testops-admin undo ${run} -d {deployment} --confirm {deployment}`
  return conclude(performance, carried, unverified, [next], true)
}

/** Refused before any step was taken back, as it would be each time. */
function isForeseen({ applied, failure }: CarriedOut): boolean {
  return applied.length === 0 && failure?.error instanceof AdminError && failure.error.code === 'REFUSED'
}

/**
 * Why a run can be taken back no more, as far as that can be told beforehand; null: nothing is known to be in the way
 * for good.
 */
export async function whyNotBack(performance: Performance): Promise<AdminError | null> {
  try {
    await foreseeTakingBack(runningOf(performance))
    return null
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    // whatever else there is may pass, and is met again, and told, by who takes it back
    return error.code === 'REFUSED' ? error : null
  }
}

/**
 * Steps of which the record and the deployment disagree; asked before anything is changed. Throws what keeps a step
 * from being asked about.
 */
export async function differingSteps(performance: Performance): Promise<Compared> {
  return differingFrom(runningOf(performance))
}

/** The document of a plan that was not begun. */
export function documentOf(plan: Plan, rest: Pick<RepairDocument, 'outcome' | 'error'>): RepairDocument {
  return {
    schemaVersion: 1,
    run: null,
    hash: hashOf(plan),
    plan,
    applied: [],
    verification: {},
    ...accountOf(plan, []),
    ...rest,
  }
}

/** The same for the same plan, whatever the order of its keys. */
export function hashOf(plan: Plan): string {
  return createHash('sha256').update(canonical(plan, new Set())).digest('hex')
}

function runningOf({ record, events, journal, guard, workshop, failpoint, onStep, by, foreign }: Performance): Running {
  return {
    plan: record.plan,
    events,
    log: journal,
    guard,
    workshop,
    by,
    failpoint,
    onStep,
    ...(foreign && { foreign }),
  }
}

const unverified: Verification = { statuses: {}, reasons: {} }

async function verified({ record, checks, workshop, commands }: Performance): Promise<Verification> {
  const chosen = checks.filter(({ id }) => record.plan.verifiedBy.includes(id))
  const { open, deployment, timeoutMs, signal } = workshop
  const patienceMs = Math.min(settleMs, workshop.patienceMs)
  return verify(async () => runChecks({ checks: chosen, open, deployment, deadlineMs: timeoutMs + 1000, commands }), {
    patienceMs,
    signal,
  })
}

async function conclude(
  { record, events, journal, by, workshop, commands, failpoint }: Performance,
  { applied, failure }: CarriedOut,
  { statuses: verification, reasons, next: after }: Verification,
  next: readonly Suggestion[],
  isUndo = false,
): Promise<Performed> {
  const { plan, run } = record
  const fill = (command: Suggestion): Suggestion => fillCommand(command, workshop.deployment, commands)
  const failed = failure && runError(failure.error, fill)
  const short = failed || isUndo ? null : shortfallOf(plan, [...events, ...journal.written])
  const isFailure = short !== null || Object.values(verification).includes('error')
  const outcome = failed ? outcomeOf(failed, failure.halfDone) : isFailure ? 'failed' : 'done'
  // an undo that has changed nothing leaves the run as it stood
  const before = progressOf(events).ended?.outcome ?? 'interrupted'
  const ended = !isUndo ? outcome : !failure ? 'undone' : failure.halfDone ? outcome : before
  const event: RunEvent = { at: new Date().toISOString(), by, event: 'ended', outcome: ended, verification }
  await failpoint('end:before')
  const unwritten = await errorOf(async () => journal.append(event))
  await failpoint('end:after')
  const onRecord = [...events, ...journal.written]
  const isOver = !isUnfinished({ record, events: onRecord })
  await journal.close(isOver)
  const told =
    failed ??
    (unwritten
      ? runError(unwritten, fill)
      : short && {
          code: 'FAILED' as const,
          message: short.message,
          suggestions: (await nextOf(short, journal)).map(fill),
        }) ??
    (failed || isUndo
      ? null
      : filledIn(unhealthy({ statuses: verification, reasons, ...(after !== undefined && { next: after }) }), fill))
  const error = told && { ...told, suggestions: [...told.suggestions, ...(isOver ? [] : next.map(fill))] }
  // what is done and cannot be noted is gone on with later, which notes it
  const result = unwritten && !failed ? 'interrupted' : outcome
  const document: RepairDocument = {
    schemaVersion: 1,
    run,
    hash: hashOf(plan),
    plan,
    applied,
    verification,
    ...(Object.keys(reasons).length > 0 && { reasons }),
    ...accountOf(plan, onRecord),
    outcome: result,
    ...(error && { error }),
  }
  return { document, exitCode: exitCodeOfRun(result, error ?? undefined, verification), ...stackOf(failure?.error) }
}

function filledIn(error: RunError | null, fill: (command: Suggestion) => Suggestion): RunError | null {
  return error && { ...error, suggestions: error.suggestions.map(fill) }
}

/** Every step is done, and a check still finds an error: which, why, and what is done about it. */
function unhealthy({
  statuses,
  reasons,
  next = 'testops-admin doctor -d {deployment}',
}: Verification): RunError | null {
  const [first, ...others] = Object.keys(statuses).filter((id) => statuses[id] === 'error')
  if (first === undefined) return null
  const why = own(reasons, first)
  const more = others.length === 0 ? '' : `; not healthy either: ${others.join(', ')}`
  return {
    code: 'FAILED',
    message: `every step is done, and ${first} is not healthy${why === undefined ? '' : `: ${why}`}${more}`,
    suggestions: [next],
  }
}

async function nextOf({ suggestions, file }: Shortfall, journal: RunJournal): Promise<readonly Suggestion[]> {
  const where = file && (await journal.keep(file.name, file.text))
  return file && where ? [withFilled(file.command, /\{file\}/, () => typed([where])), ...suggestions] : suggestions
}

function stackOf(error: unknown): Pick<Performed, 'stack'> {
  return error instanceof Error && !(error instanceof AdminError) && error.stack !== undefined
    ? { stack: error.stack }
    : {}
}

/** What the journal says of itself; null: it was written. A bug is thrown. */
async function errorOf(write: () => Promise<void>): Promise<AdminError | null> {
  try {
    await write()
    return null
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}
