import { handlerOf } from '../actions/index.ts'
import { AdminError, exitCodes, messageOf } from '../core/error.ts'
import { changesNothing } from '../core/plan.ts'
import type { RunError, RunEvent, RunOutcome } from '../core/run.ts'
import { progressOf } from '../core/run-state.ts'
import { workshopOf } from './run.ts'
import type { Run, StepStatus } from './run.ts'
import {
  foreseeAll,
  holds,
  isStopNeeded,
  isUnderStop,
  refuseIfStarted,
  stepsUnder,
  unlessLate,
  whileStopped,
} from './while-stopped.ts'
import type { SeenStopped } from './while-stopped.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface Applied {
  step: number
  status: StepStatus
  durationMs: number
  /** Results for people */
  results?: readonly string[]
}

/** The steps that were performed, and what stopped the run; `failure` is null if all steps are done. */
export interface CarriedOut {
  applied: readonly Applied[]
  failure: { error: unknown; halfDone: boolean } | null
}

/** Performs the remaining steps, each under the journal: intent on disk, act, outcome. Never throws. */
export async function performSteps(run: Run): Promise<CarriedOut> {
  const {
    record: { plan },
    events,
    onStep,
  } = run
  const { done, touched } = progressOf(events)
  const applied: Applied[] = []
  let isTouched = touched.some((step) => !changesNothing(plan.steps[step]!))
  const seen: SeenStopped = { stopped: false }
  try {
    if (!isTouched) await foreseeAll(run)
  } catch (error) {
    return { applied, failure: { error, halfDone: false } }
  }
  for (const [index, step] of plan.steps.entries()) {
    if (done.has(index) && !(holds(step) && stepsUnder(plan, index).some((at) => !done.has(at)))) continue
    const begin = performance.now()
    const since = (): number => Math.round(performance.now() - begin)
    const results: string[] = []
    onStep(index, 'begun')
    try {
      const work = async (signal: AbortSignal, appeared?: AbortSignal): Promise<'done' | 'already'> =>
        performStep(run, index, { done, results, touch: () => (isTouched = true), since, seen, signal, appeared })
      const status = await (isUnderStop(plan, index) ? whileStopped(run, work, seen) : work(run.workshop.signal))
      applied.push({ step: index, status, durationMs: since(), ...(results.length > 0 && { results }) })
      onStep(index, status)
    } catch (error) {
      applied.push({ step: index, status: 'failed', durationMs: since() })
      onStep(index, newsOf(error))
      return { applied, failure: { error, halfDone: isTouched } }
    }
  }
  return { applied, failure: null }
}

interface Stepping {
  done: ReadonlySet<number>
  results: string[]
  touch: () => void
  since: () => number
  seen: SeenStopped
  signal: AbortSignal
  /** Aborted if an instance of a stopped service appears */
  appeared: AbortSignal | undefined
}

async function performStep(
  run: Run,
  index: number,
  { done, results, touch, since, seen, signal, appeared }: Stepping,
): Promise<'done' | 'already'> {
  const { journal, guard, by, failpoint } = run
  const step = run.record.plan.steps[index]!
  const { action } = step
  const workshop = { ...workshopOf(run, index, { results }), signal }
  const handler = handlerOf(action)
  const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
  if (signal.aborted) throw interrupted(signal)
  await guard.assertHeld()
  const isSo = (await handler.isDone(action, workshop)) || (holds(step) && !(await isStopNeeded(run, index, done)))
  if (isSo) {
    await journal.append({ ...now(), event: 'done', step: index, durationMs: since(), already: true })
    return 'already'
  }
  if (isUnderStop(run.record.plan, index)) {
    await refuseIfStarted(run)
    seen.stopped = true
  }
  await failpoint(`${action.kind}:before`)
  await journal.append({ ...now(), event: 'intent', step: index })
  if (!changesNothing(step)) touch()
  try {
    await failpoint(`${action.kind}:intended`)
    const performing = handler.perform(action, workshop)
    await (appeared && !movesMessages(run.record.plan) ? unlessLate(performing, appeared) : performing)
    appeared?.throwIfAborted()
    await failpoint(`${action.kind}:after`)
  } catch (error) {
    await noteFailure(journal, { ...now(), event: 'failed', step: index, error: runError(error) })
    throw error
  }
  await journal.append({ ...now(), event: 'done', step: index, durationMs: since() })
  seen.stopped ||= action.kind === 'stop-service'
  return 'done'
}

/** True if the plan moves messages. Its steps are awaited to the end: cut off, they may leave messages twice. */
function movesMessages({ steps }: Run['record']['plan']): boolean {
  return steps.some(({ action }) => action.kind === 'hold-queues')
}

/** Records a failure. An unwritable journal is ignored, because it must not hide the failure itself. */
export async function noteFailure(journal: Run['journal'], event: RunEvent): Promise<void> {
  await journal.append(event).catch((error: unknown) => {
    if (!(error instanceof AdminError)) throw error
  })
}

export function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}

/** Returns how to report a step that did not finish. */
export function newsOf(error: unknown): 'interrupted' | 'failed' {
  return error instanceof AdminError && error.code === 'INTERRUPTED' ? 'interrupted' : 'failed'
}

/** Returns a failure as documents and journals keep it. `fill`: fills commands for this deployment. */
export function runError(error: unknown, fill: (suggestion: Suggestion) => Suggestion = (same) => same): RunError {
  if (error instanceof AdminError)
    return withoutSecretsIn({ code: error.code, message: error.message, suggestions: error.suggestions.map(fill) })
  return withoutSecretsIn({
    code: 'BUG',
    message: `this is a bug in testops-admin: ${messageOf(error)}`,
    suggestions: [],
  })
}

/**
 * Returns the outcome of a failed run. A run that changed something and did not finish is interrupted, whatever stopped
 * it, unless a step was tried and failed by itself.
 */
export function outcomeOf({ code }: Pick<RunError, 'code'>, halfDone: boolean): RunOutcome {
  if (code === 'FAILED' || code === 'BUG') return 'failed'
  if (halfDone || code === 'INTERRUPTED') return 'interrupted'
  return code === 'REFUSED' || code === 'BUSY' ? 'refused' : 'failed'
}

/** Returns the exit code of a run (DESIGN.md 3). */
export function exitCodeOfRun(
  outcome: RunOutcome,
  error: Pick<RunError, 'code'> | undefined,
  verification: Readonly<Record<string, string>>,
): number {
  if (outcome === 'interrupted') return exitCodes.INTERRUPTED
  if (error?.code === 'BUG') return 70
  if (error) return exitCodes[error.code]
  const statuses = Object.values(verification)
  if (outcome === 'failed' || statuses.includes('error')) return exitCodes.FAILED
  return statuses.includes('unknown') ? 3 : 0
}
