import { handlerOf } from '../actions/index.ts'
import type { Workshop } from '../actions/index.ts'
import type { Applied, CarriedOut, Running } from './carry-out.ts'
import { progressOf } from '../core/run-state.ts'

/**
 * Takes back what a run did, the last first, each under the journal. A step that has nothing to take back is passed over.
 * Never throws; `halfDone` where something was taken back and something else could not be.
 */
export async function takeBack(running: Running): Promise<CarriedOut> {
  const { plan, events, log, guard, by, onStep, failpoint } = running
  const applied: Applied[] = []
  for (const index of [...progressOf(events).touched].reverse()) {
    const step = plan.steps[index]
    const handler = step && handlerOf(step.action)
    if (!step || !handler?.undo) continue
    const { action } = step
    const workshop: Workshop = { ...running.workshop, failpoint: async (name) => failpoint(`${action.kind}:undo-${name}`) }
    const begin = performance.now()
    const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
    onStep(index, 'begun')
    try {
      await guard.assertHeld()
      await log.append({ ...now(), event: 'undo-intent', step: index })
      await failpoint(`${action.kind}:undo-intended`)
      await handler.undo(action, workshop)
      await failpoint(`${action.kind}:undo-after`)
      await log.append({ ...now(), event: 'undone', step: index })
    } catch (error) {
      applied.push({ step: index, status: 'failed', durationMs: Math.round(performance.now() - begin) })
      onStep(index, 'failed')
      return { applied, failure: { error, halfDone: applied.length > 1 } }
    }
    applied.push({ step: index, status: 'undone', durationMs: Math.round(performance.now() - begin) })
    onStep(index, 'undone')
  }
  return { applied, failure: null }
}
