import { handlerOf } from '../actions/index.ts'
import { AdminError } from '../core/error.ts'
import type { Action } from '../core/action.ts'
import { changesNothing, isUndoable } from '../core/plan.ts'
import type { Plan } from '../core/plan.ts'
import type { RunEvent, RunHistory } from '../core/run.ts'
import { interrupted, newsOf, noteFailure } from './carry-out.ts'
import type { Applied, CarriedOut } from './carry-out.ts'
import { progressOf } from '../core/run-state.ts'
import { runError } from './outcome.ts'
import type { Running } from './running.ts'
import { workshopOf } from './step-workshop.ts'
import { isUnderStop } from './under-stop.ts'
import { isStoppedNow, whileStopped } from './while-stopped.ts'

/** The steps that were begun or done and can be taken back, the last first. */
export function toTakeBack({ steps }: Plan, events: readonly RunEvent[]): readonly number[] {
  const { touched, ended } = progressOf(events)
  if (ended?.outcome === 'undone') return []
  return touched.filter((index) => isTakenBack(steps[index]!.action)).reverse()
}

function isTakenBack(action: Action): boolean {
  const handler = handlerOf(action)
  return handler.undo !== null && (handler.isTakenBack?.(action) ?? true)
}

/** Whether all that it did is of the kind that nothing brings back. */
export function losesAll({ record: { plan }, events }: RunHistory): boolean {
  const touched = progressOf(events)
    .touched.map((step) => plan.steps[step]!)
    .filter((step) => !changesNothing(step))
  return touched.length > 0 && touched.every((step) => !isUndoable(step) && handlerOf(step.action).undo === null)
}

/**
 * Takes back what a run did, the last first, each under the journal. A step that has nothing to take back is passed
 * over. Never throws; `halfDone` where something was taken back, or was being so, now or before: what is refused has
 * changed nothing.
 */
export async function takeBack(running: Running): Promise<CarriedOut> {
  const { plan, events, log, guard, by, onStep, failpoint } = running
  const { signal } = running.workshop
  const applied: Applied[] = []
  const { isGoingBack } = progressOf(events)
  try {
    await foreseeTakingBack(running)
  } catch (error) {
    return { applied, failure: { error, halfDone: isGoingBack } }
  }
  for (const index of toTakeBack(plan, events)) {
    const { action } = plan.steps[index]!
    const handler = handlerOf(action)
    let isBegun = false
    const results: string[] = []
    const workshop = workshopOf(running, index, { within: 'undo-', results })
    const begin = performance.now()
    const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
    onStep(index, 'going-back')
    try {
      await guard.assertHeld()
      if (signal.aborted) throw interrupted(signal)
      await log.append({ ...now(), event: 'undo-intent', step: index })
      isBegun = true
      try {
        await failpoint(`${action.kind}:undo-intended`)
        const undo = async (until: AbortSignal): Promise<void> => handler.undo!(action, { ...workshop, signal: until })
        await ((await isStoppedFor(running, index)) ? whileStopped(running, undo) : undo(signal))
        await failpoint(`${action.kind}:undo-after`)
      } catch (error) {
        await noteFailure(log, { ...now(), event: 'undo-failed', step: index, error: runError(error) })
        throw error
      }
      await log.append({ ...now(), event: 'undone', step: index })
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

/**
 * Throws what any step would throw for certain when it is taken back: before the first of them, nothing at all is
 * changed then.
 */
export async function foreseeTakingBack(running: Running): Promise<void> {
  const { plan, events } = running
  for (const index of toTakeBack(plan, events)) {
    const { action } = plan.steps[index]!
    await handlerOf(action).foreseeUndo?.(action, workshopOf(running, index, { within: 'undo-' }))
  }
}

/** A step under a stop may be undone while the service runs again, too. */
async function isStoppedFor({ plan, workshop }: Running, index: number): Promise<boolean> {
  return isUnderStop(plan, index) && (await isStoppedNow(workshop))
}

function isRefusal(error: unknown): boolean {
  return error instanceof AdminError && error.code === 'REFUSED'
}
