import { handlerOf } from '../actions/index.ts'
import { AdminError } from '../core/error.ts'
import type { CarriedOut } from './carry-out.ts'
import type { Running } from './running.ts'
import { workshopOf } from './step-workshop.ts'

/**
 * Where a run ends early: what lasts no longer than this process is brought to safety, whatever interrupted it. Never
 * throws; what could not be saved is told with what ended the run.
 */
export async function letGo(running: Running, carried: CarriedOut): Promise<CarriedOut> {
  const { failure } = carried
  if (!failure) return carried
  const { signal } = new AbortController()
  const unsaved: string[] = []
  for (const [index, { action }] of running.plan.steps.entries()) {
    try {
      await handlerOf(action).letGo?.(action, { ...workshopOf(running, index, { within: 'let-go-' }), signal })
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
