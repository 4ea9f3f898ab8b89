import { handlerOf } from '../actions/index.ts'
import { AdminError, messageOf } from '../core/error.ts'
import type { Action } from '../core/action.ts'
import { changesNothing, isUndoable } from '../core/plan.ts'
import type { Plan, Step } from '../core/plan.ts'
import type { RunEvent, RunHistory } from '../core/run.ts'
import { interrupted, newsOf, noteFailure, runError } from './steps.ts'
import { workshopOf } from './run.ts'
import type { Applied, CarriedOut } from './steps.ts'
import { progressOf } from '../core/run-state.ts'
import type { Run } from './run.ts'
import { holds, isForUpgrade, isStoppedNow, isUnderStop, prepares, whileStopped } from './while-stopped.ts'

/** Returns the steps that were begun or done and can be undone, the last first. */
export function stepsToUndo({ steps }: Plan, events: readonly RunEvent[]): readonly number[] {
  const { touched, ended } = progressOf(events)
  if (ended?.outcome === 'undone') return []
  return touched.filter((index) => isTakenBack(steps[index]!.action)).reverse()
}

function isTakenBack(action: Action): boolean {
  const handler = handlerOf(action)
  return handler.undo !== null && (handler.isTakenBack?.(action) ?? true)
}

/** True if nothing that the run changed can be undone. */
export function losesAll({ record: { plan }, events }: RunHistory): boolean {
  const touched = progressOf(events)
    .touched.map((step) => plan.steps[step]!)
    .filter((step) => !changesNothing(step))
  return touched.length > 0 && touched.every((step) => !isUndoable(step) && handlerOf(step.action).undo === null)
}

/**
 * Undoes the steps of a run, the last first, each under the journal. A step with nothing to undo is skipped. Never
 * throws. `halfDone`: the undo of a step has begun, now or before; one that was refused does not count.
 */
export async function undoSteps(run: Run): Promise<CarriedOut> {
  const {
    record: { plan },
    events,
    journal,
    guard,
    by,
    onStep,
    failpoint,
  } = run
  const { signal } = run.workshop
  const applied: Applied[] = []
  const { isGoingBack } = progressOf(events)
  try {
    await foreseeUndo(run)
  } catch (error) {
    return { applied, failure: { error, halfDone: isGoingBack } }
  }
  for (const index of stepsToUndo(plan, events)) {
    const { action } = plan.steps[index]!
    const handler = handlerOf(action)
    let isBegun = false
    const results: string[] = []
    const workshop = workshopOf(run, index, { within: 'undo-', results })
    const begin = performance.now()
    const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
    onStep(index, 'going-back')
    try {
      await guard.assertHeld()
      if (signal.aborted) throw interrupted(signal)
      await journal.append({ ...now(), event: 'undo-intent', step: index })
      isBegun = true
      try {
        await failpoint(`${action.kind}:undo-intended`)
        const undo = async (until: AbortSignal): Promise<void> => handler.undo!(action, { ...workshop, signal: until })
        await ((await isStoppedFor(run, index)) ? whileStopped(run, undo) : undo(signal))
        await failpoint(`${action.kind}:undo-after`)
      } catch (error) {
        await noteFailure(journal, { ...now(), event: 'undo-failed', step: index, error: runError(error) })
        throw error
      }
      await journal.append({ ...now(), event: 'undone', step: index })
    } catch (error) {
      applied.push({ step: index, status: 'failed', durationMs: Math.round(performance.now() - begin) })
      onStep(index, newsOf(error))
      return {
        applied,
        failure: { error, halfDone: isGoingBack || applied.length > 1 || (isBegun && !isRefusal(error)) },
      }
    }
    applied.push({
      step: index,
      status: 'undone',
      durationMs: Math.round(performance.now() - begin),
      ...(results.length > 0 && { results }),
    })
    onStep(index, 'undone')
  }
  return { applied, failure: null }
}

/** Throws what the undo of any step is certain to throw, before the first step is undone: nothing is changed then. */
async function foreseeUndo(run: Run): Promise<void> {
  const {
    record: { plan },
    events,
  } = run
  for (const index of stepsToUndo(plan, events)) {
    const { action } = plan.steps[index]!
    await handlerOf(action).foreseeUndo?.(action, workshopOf(run, index, { within: 'undo-' }))
  }
}

/** True if the service must stay stopped while a step is undone; false once it runs again. */
async function isStoppedFor({ record: { plan }, workshop }: Run, index: number): Promise<boolean> {
  return isUnderStop(plan, index) && (await isStoppedNow(workshop))
}

function isRefusal(error: unknown): boolean {
  return error instanceof AdminError && error.code === 'REFUSED'
}

/**
 * Returns why a run can no longer be undone, as far as that is known beforehand; null if no lasting obstacle is known.
 */
export async function whyNotUndone(run: Run): Promise<AdminError | null> {
  try {
    await foreseeUndo(run)
    return null
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    // any other obstacle may pass, and the undo itself reports it
    return error.code === 'REFUSED' ? error : null
  }
}

/**
 * Undoes a run that is refused after it only stopped the service or edited the files of an upgrade. The run then ends
 * as refused. `written`: events of this process. Never throws.
 */
export async function undoIfRefused(run: Run, carried: CarriedOut, written: readonly RunEvent[]): Promise<CarriedOut> {
  const { failure, applied } = carried
  if (!(failure?.error instanceof AdminError) || !['REFUSED', 'BUSY'].includes(failure.error.code)) return carried
  const events = [...run.events, ...written]
  const { steps } = run.record.plan
  const refused = applied.at(-1)?.step
  const touched = progressOf(events).touched.flatMap((index) => (steps[index] ? [{ index, step: steps[index] }] : []))
  const isEdit = (step: Step): boolean => isForUpgrade(run.record.plan, step)
  const isGivable = touched.every(
    ({ index, step }) => prepares(step) || isEdit(step) || (index === refused && handlerOf(step.action).undo !== null),
  )
  if (!isGivable || !touched.some(({ step }) => holds(step) || isEdit(step))) return carried
  const back = await undoSteps({ ...run, events })
  const { code, message, suggestions } = failure.error
  if (!back.failure) {
    const error = new AdminError(
      code,
      `${message}. Nothing was changed; the service is as it was before`,
      suggestions,
      {
        cause: failure.error,
      },
    )
    return { applied: [...applied, ...back.applied], failure: { error, halfDone: false } }
  }
  const error = new AdminError(
    'INTERRUPTED',
    `${message}; testops-admin could not restore the service: ${messageOf(back.failure.error)}`,
    suggestions,
    {
      cause: back.failure.error,
    },
  )
  return { applied: [...applied, ...back.applied], failure: { error, halfDone: true } }
}

/**
 * Saves, when a run ends early, what would be lost with this process, whatever interrupted the run. Never throws; a
 * failure to save is added to the error that ended the run.
 */
export async function letGo(run: Run, carried: CarriedOut): Promise<CarriedOut> {
  const { failure } = carried
  if (!failure) return carried
  const { signal } = new AbortController()
  const unsaved: string[] = []
  for (const [index, { action }] of run.record.plan.steps.entries()) {
    try {
      await handlerOf(action).letGo?.(action, { ...workshopOf(run, index, { within: 'let-go-' }), signal })
    } catch (error) {
      if (!(error instanceof AdminError)) return { ...carried, failure: { ...failure, error } }
      unsaved.push(error.message)
    }
  }
  const { error, halfDone } = failure
  if (unsaved.length === 0 || !(error instanceof AdminError)) return carried
  const told = new AdminError(error.code, [error.message, ...unsaved].join('; '), error.suggestions, {
    cause: error,
    obstacle: error.obstacle,
  })
  return { ...carried, failure: { error: told, halfDone } }
}
