import type { ActionKind } from '../../core/action.ts'
import type { RunEvent, RunHistory } from '../../core/run.ts'
import { eventsOfStep } from '../../core/run-state.ts'

/** How far a step has come, according to the record. */
export interface Stage {
  /** `before`: not begun, or undone; `within`: begun or being undone, so it may be unfinished */
  at: 'before' | 'within' | 'after'
  /** True if its undo was begun last */
  isGoingBack: boolean
}

/** Returns how far the first step of that kind has come; `before` if the plan has no such step. */
export function stageOf({ record: { plan }, events }: RunHistory, kind: ActionKind): Stage {
  const step = plan.steps.findIndex(({ action }) => action.kind === kind)
  return step < 0
    ? { at: 'before', isGoingBack: false }
    : eventsOfStep(events, step).reduce(next, { at: 'before', isGoingBack: false })
}

/** True if the record says that any step was begun. */
export function hasBegun({ events }: RunHistory): boolean {
  return events.some(({ event }) => event === 'intent' || event === 'done')
}

function next(stage: Stage, { event }: RunEvent): Stage {
  switch (event) {
    case 'intent':
    case 'redo':
      return { at: 'within', isGoingBack: false }
    case 'done':
      return { at: 'after', isGoingBack: false }
    case 'undo-intent':
      return { at: 'within', isGoingBack: true }
    case 'undone':
      return { at: 'before', isGoingBack: false }
    default:
      return stage
  }
}
