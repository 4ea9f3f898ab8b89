import { handlerOf } from '../actions/index.ts'
import { AdminError, messageOf } from '../core/error.ts'
import type { RunEvent } from '../core/run.ts'
import type { Step } from '../core/plan.ts'
import { progressOf } from '../core/run-state.ts'
import type { CarriedOut } from './carry-out.ts'
import type { Running } from './running.ts'
import { takeBack } from './take-back.ts'
import { holds, isForUpgrade, prepares } from './under-stop.ts'

/**
 * A run that is refused once it has stopped the service, or edited the files of an upgrade, and has changed nothing
 * else, takes that back: it ends as it would have before, refused. `written`: by this process. Never throws.
 */
export async function giveBackIfRefused(
  running: Running,
  carried: CarriedOut,
  written: readonly RunEvent[],
): Promise<CarriedOut> {
  const { failure, applied } = carried
  if (!(failure?.error instanceof AdminError) || !['REFUSED', 'BUSY'].includes(failure.error.code)) return carried
  const events = [...running.events, ...written]
  const { steps } = running.plan
  const refused = applied.at(-1)?.step
  const touched = progressOf(events).touched.flatMap((index) => (steps[index] ? [{ index, step: steps[index] }] : []))
  const isEdit = (step: Step): boolean => isForUpgrade(running.plan, step)
  const isGivable = touched.every(
    ({ index, step }) => prepares(step) || isEdit(step) || (index === refused && handlerOf(step.action).undo !== null),
  )
  if (!isGivable || !touched.some(({ step }) => holds(step) || isEdit(step))) return carried
  const back = await takeBack({ ...running, events })
  const { code, message, suggestions } = failure.error
  if (!back.failure) {
    const error = new AdminError(
      code,
      `${message}. Nothing was changed, and the service is as it was before`,
      suggestions,
      { cause: failure.error },
    )
    return { applied: [...applied, ...back.applied], failure: { error, halfDone: false } }
  }
  const error = new AdminError(
    'INTERRUPTED',
    `${message}; the service could not be given back: ${messageOf(back.failure.error)}`,
    suggestions,
    {
      cause: back.failure.error,
    },
  )
  return { applied: [...applied, ...back.applied], failure: { error, halfDone: true } }
}
