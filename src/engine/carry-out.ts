import { createHash } from 'node:crypto'
import type { Shortfall } from '../actions/index.ts'
import type { CheckReport, DoctorReport } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { Plan } from '../core/plan.ts'
import type { RepairDocument } from '../core/repair.ts'
import { own } from '../core/lookup.ts'
import type { RunError, RunEvent } from '../core/run.ts'
import { accountOf, shortfallOf, verify } from './verify.ts'
import { performSteps, exitCodeOfRun, outcomeOf, runError } from './steps.ts'
import type { CarriedOut } from './steps.ts'
import type { Run } from './run.ts'
import { undoIfRefused, letGo, undoSteps } from './undo.ts'
import type { RunJournal } from './journal.ts'
import { fillCommand } from './remedy.ts'
import { runChecks } from './run-checks.ts'
import { isUnfinished, onlyCloses, progressOf, undoCommand } from '../core/run-state.ts'
import { typed } from '../core/typed.ts'
import { canonical } from './plan.ts'
import type { Verification } from './verify.ts'
import { command, withFilled } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface RunResult {
  document: RepairDocument
  exitCode: number
  /** Stack trace of a bug in this program */
  stack?: string
}

/** Longest time after the last step until the checks of a plan find no error, in milliseconds */
const settleMs = 30_000

/** Performs the rest of a run, verifies it by its checks, and records how it ended. Throws only on a bug. */
export async function carryOut(run: Run): Promise<RunResult> {
  const carried = await letGo(run, await undoIfRefused(run, await performSteps(run), run.journal.written))
  const { plan, run: id } = run.record
  await run.failpoint('verify:before')
  const verification = carried.failure ? unverified : await verified(run)
  return conclude(run, carried, verification, [
    command`testops-admin resume ${id} -d {deployment}`,
    undoCommand({ run: id, onlyCloses: onlyCloses(plan) }),
  ])
}

/** Undoes what a run did. Throws as `carryOut`. */
export async function carryOutUndo(run: Run): Promise<RunResult> {
  const carried = await letGo(run, await undoSteps(run))
  const { run: id } = run.record
  const next = isForeseen(carried)
    ? command`testops-admin resume ${id} -d {deployment}   # finishes the run instead of undoing it`
    : command`testops-admin undo ${id} -d {deployment} --confirm {deployment}`
  return conclude(run, carried, unverified, [next], true)
}

/** True if the undo was refused before its first step: every further attempt would be refused too. */
function isForeseen({ applied, failure }: CarriedOut): boolean {
  return applied.length === 0 && failure?.error instanceof AdminError && failure.error.code === 'REFUSED'
}

/** Returns the document of a plan whose run has not begun. */
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

/** Returns the SHA-256 of a plan in hexadecimal; the order of keys does not matter. */
export function hashOf(plan: Plan): string {
  return createHash('sha256').update(canonical(plan, new Set())).digest('hex')
}

const unverified: Verification = { statuses: {}, reasons: {} }

async function verified({ record, checks, workshop, commands, others = [] }: Run): Promise<Verification> {
  const { verifiedBy } = record.plan
  const besides = others.filter((id) => !verifiedBy.includes(id))
  const chosen = checks.filter(({ id }) => verifiedBy.includes(id) || besides.includes(id))
  const { open, deployment, timeoutMs, signal } = workshop
  const examine = async (): Promise<Pick<DoctorReport, 'checks'>> => {
    const report = await runChecks({ checks: chosen, open, deployment, deadlineMs: timeoutMs + 1000, commands })
    return { checks: report.checks.filter(({ id }) => verifiedBy.includes(id)).map((it) => unlessOf(besides, it)) }
  }
  return verify(examine, { patienceMs: Math.min(settleMs, workshop.patienceMs), signal })
}

/** Returns the check as skipped if one of those problems causes what it finds. */
function unlessOf(others: readonly string[], check: CheckReport): CheckReport {
  const { id, title, status, because, docs, durationMs } = check
  if (status !== 'problem' || because === undefined || !others.includes(because)) return check
  return { id, title, status: 'skipped', reason: `it fails because of \`${because}\``, docs, durationMs }
}

async function conclude(
  { record, events, journal, by, workshop, commands, failpoint }: Run,
  { applied, failure }: CarriedOut,
  { statuses: verification, reasons, next: after }: Verification,
  next: readonly Suggestion[],
  isUndo = false,
): Promise<RunResult> {
  const { plan, run } = record
  const fill = (command: Suggestion): Suggestion => fillCommand(command, workshop.deployment, commands)
  const failed = failure && runError(failure.error, fill)
  const short = failed || isUndo ? null : shortfallOf(plan, [...events, ...journal.written])
  const isFailure = short !== null || Object.values(verification).includes('error')
  const outcome = failed ? outcomeOf(failed, failure.halfDone) : isFailure ? 'failed' : 'done'
  // an undo that changed nothing leaves the recorded outcome as it was
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
  // a step that is done but not recorded is recorded when the run is resumed
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

/** Returns the error of a finished run whose checks still find one: which check, why, and what to do next. */
function unhealthy({
  statuses,
  reasons,
  next = 'testops-admin doctor -d {deployment}',
}: Verification): RunError | null {
  const [first, ...others] = Object.keys(statuses).filter((id) => statuses[id] === 'error')
  if (first === undefined) return null
  const why = own(reasons, first)
  const more = others.length === 0 ? '' : `. Other checks that find an error: ${others.join(', ')}`
  return {
    code: 'FAILED',
    message:
      `all steps are done, but the check \`${first}\` finds an error` + `${why === undefined ? '' : `: ${why}`}${more}`,
    suggestions: [next],
  }
}

async function nextOf({ suggestions, file }: Shortfall, journal: RunJournal): Promise<readonly Suggestion[]> {
  const where = file && (await journal.keep(file.name, file.text))
  return file && where ? [withFilled(file.command, /\{file\}/, () => typed([where])), ...suggestions] : suggestions
}

function stackOf(error: unknown): Pick<RunResult, 'stack'> {
  return error instanceof Error && !(error instanceof AdminError) && error.stack !== undefined
    ? { stack: error.stack }
    : {}
}

/** Returns the error of writing to the journal; null if it was written. Throws anything but an `AdminError`. */
async function errorOf(write: () => Promise<void>): Promise<AdminError | null> {
  try {
    await write()
    return null
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}
