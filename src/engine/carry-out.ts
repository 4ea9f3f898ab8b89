import { handlerOf } from '../actions/index.ts'
import type { Workshop } from '../actions/index.ts'
import { AdminError } from '../core/error.ts'
import type { Plan, Step } from '../core/plan.ts'
import type { RunEvent, RunLog } from '../core/run.ts'
import type { Guard } from './guard.ts'
import { progressOf } from '../core/run-state.ts'

/** What a run works with besides the deployment. */
export interface Running {
  plan: Plan
  /** what is on record already; empty for a new run */
  events: readonly RunEvent[]
  log: Pick<RunLog, 'append'>
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint'>
  /** user@host */
  by: string
  /** an instant with a name, at which a test may end the process */
  failpoint: (name: string) => Promise<void>
  /** told as steps begin and end */
  onStep: (step: number, status: 'begun' | StepStatus) => void
}

/** `already`: it was so before, and nothing was done. */
type StepStatus = 'done' | 'already' | 'failed' | 'undone'

export interface Applied {
  step: number
  status: StepStatus
  durationMs: number
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
  let isTouched = touched.length > 0
  for (const [index, step] of plan.steps.entries()) {
    if (done.has(index) && !(holds(step) && isNeeded(plan, index, done))) continue
    const begin = performance.now()
    const since = (): number => Math.round(performance.now() - begin)
    onStep(index, 'begun')
    try {
      const status = await performStep(running, index, step, () => (isTouched = true), since)
      applied.push({ step: index, status, durationMs: since() })
      onStep(index, status)
    } catch (error) {
      applied.push({ step: index, status: 'failed', durationMs: since() })
      onStep(index, 'failed')
      return { applied, failure: { error, halfDone: isTouched } }
    }
  }
  return { applied, failure: null }
}

async function performStep(
  running: Running,
  index: number,
  step: Step,
  touch: () => void,
  since: () => number,
): Promise<'done' | 'already'> {
  const { plan, log, guard, by, failpoint } = running
  const { action } = step
  const { signal } = running.workshop
  const workshop: Workshop = { ...running.workshop, failpoint: async (name) => failpoint(`${action.kind}:${name}`) }
  const handler = handlerOf(action)
  const now = (): { at: string; by: string } => ({ at: new Date().toISOString(), by })
  if (signal.aborted) throw interrupted(signal)
  await guard.assertHeld()
  await refuseIfStarted(plan, index, workshop)
  if (await handler.isDone(action, workshop)) {
    await log.append({ ...now(), event: 'done', step: index, durationMs: since(), already: true })
    return 'already'
  }
  await failpoint(`${action.kind}:before`)
  await log.append({ ...now(), event: 'intent', step: index })
  touch()
  await failpoint(`${action.kind}:intended`)
  await handler.perform(action, workshop)
  await failpoint(`${action.kind}:after`)
  await log.append({ ...now(), event: 'done', step: index, durationMs: since() })
  return 'done'
}

/** A state that has to last while the steps after it are performed. */
function holds({ action }: Step): boolean {
  return action.kind === 'stop-service'
}

/** Whether something is left to do under the state that this step made. */
function isNeeded({ steps }: Plan, index: number, done: ReadonlySet<number>): boolean {
  const until = steps.findIndex(({ action }, at) => at > index && action.kind === 'start-service')
  return steps.some((_, at) => at > index && (until < 0 || at < until) && !done.has(at))
}

/** While the service is to be stopped, something else may start it again (DESIGN.md 6.8). */
async function refuseIfStarted({ steps }: Plan, index: number, { open }: Workshop): Promise<void> {
  const before = steps.slice(0, index).map(({ action }) => action.kind)
  const isStopped = before.lastIndexOf('stop-service') > before.lastIndexOf('start-service')
  if (!isStopped || steps[index]?.action.kind === 'start-service') return
  const { state, detail } = await (await open.service()).status()
  if (state !== 'running') return
  throw new AdminError('INTERRUPTED', `something else has started the service, which is to be stopped meanwhile: ${detail}`, [
    'see what started it, and keep it from doing so again',
  ])
}

function interrupted(signal: AbortSignal): AdminError {
  return signal.reason instanceof AdminError ? signal.reason : new AdminError('INTERRUPTED', 'interrupted')
}
