import { handlerOf } from '../actions/index.ts'
import { AdminError } from '../core/error.ts'
import { changesNothing } from '../core/plan.ts'
import type { RunEvent } from '../core/run.ts'
import { progressOf } from '../core/run-state.ts'
import { runError } from './outcome.ts'
import type { Running, StepStatus } from './running.ts'
import { workshopOf } from './step-workshop.ts'
import { foreseeAll, holds, isStopNeeded, isUnderStop, refuseIfStarted, stepsUnder } from './under-stop.ts'
import { unlessLate, whileStopped } from './while-stopped.ts'
import type { SeenStopped } from './while-stopped.ts'

export interface Applied {
  step: number
  status: StepStatus
  durationMs: number
  /** what it has come to, for people */
  results?: readonly string[]
}

/** What was done, and what stopped it; null: all is done. */
export interface CarriedOut {
  applied: readonly Applied[]
  failure: { error: unknown; halfDone: boolean } | null
}

/** Performs the steps that are not done yet, each under the journal: intent on disk, act, outcome. Never throws. */
export async function carryOut(running: Running): Promise<CarriedOut> {
  const { plan, events, onStep } = running
  const { done, touched } = progressOf(events)
  const applied: Applied[] = []
  let isTouched = touched.some((step) => !changesNothing(plan.steps[step]!))
  const seen: SeenStopped = { stopped: false }
  try {
    if (!isTouched) await foreseeAll(running)
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
        performStep(running, index, { done, results, touch: () => (isTouched = true), since, seen, signal, appeared })
      const status = await (isUnderStop(plan, index)
        ? whileStopped(running, work, seen)
        : work(running.workshop.signal))
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
  /** given up where an instance of a service appears that is to be stopped */
  appeared: AbortSignal | undefined
}

async function performStep(
  running: Running,
  index: number,
  { done, results, touch, since, seen, signal, appeared }: Stepping,
): Promise<'done' | 'already'> {
  const { log, guard, by, failpoint } = running
  const step = running.plan.steps[index]!
  const { action } = step
  const workshop = { ...workshopOf(running, index, { results }), signal }
  const handler = handlerOf(action)
  const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
  if (signal.aborted) throw interrupted(signal)
  await guard.assertHeld()
  const isSo = (await handler.isDone(action, workshop)) || (holds(step) && !(await isStopNeeded(running, index, done)))
  if (isSo) {
    await log.append({ ...now(), event: 'done', step: index, durationMs: since(), already: true })
    return 'already'
  }
  if (isUnderStop(running.plan, index)) {
    await refuseIfStarted(running)
    seen.stopped = true
  }
  await failpoint(`${action.kind}:before`)
  await log.append({ ...now(), event: 'intent', step: index })
  if (!changesNothing(step)) touch()
  try {
    await failpoint(`${action.kind}:intended`)
    const performing = handler.perform(action, workshop)
    await (appeared && !movesMessages(running.plan) ? unlessLate(performing, appeared) : performing)
    appeared?.throwIfAborted()
    await failpoint(`${action.kind}:after`)
  } catch (error) {
    await noteFailure(log, { ...now(), event: 'failed', step: index, error: runError(error) })
    throw error
  }
  await log.append({ ...now(), event: 'done', step: index, durationMs: since() })
  seen.stopped ||= action.kind === 'stop-service'
  return 'done'
}

/** Steps of such a plan are waited for until they end: cut off, they may leave messages twice. */
function movesMessages({ steps }: Running['plan']): boolean {
  return steps.some(({ action }) => action.kind === 'hold-queues')
}

/** What failed is told either way; a journal that cannot be written any more must not hide it. */
export async function noteFailure(log: Running['log'], event: RunEvent): Promise<void> {
  await log.append(event).catch((error: unknown) => {
    if (!(error instanceof AdminError)) throw error
  })
}

export function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}

/** How a step that did not come to its end is told of. */
export function newsOf(error: unknown): 'interrupted' | 'failed' {
  return error instanceof AdminError && error.code === 'INTERRUPTED' ? 'interrupted' : 'failed'
}
