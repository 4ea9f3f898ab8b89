import { handlerOf } from '../actions/index.ts'
import { startedByOthers } from '../core/by-others.ts'
import type { Plan, Step } from '../core/plan.ts'
import type { Running } from './running.ts'
import { workshopOf } from './step-workshop.ts'
import { isStarted } from './while-stopped.ts'

/** A state that has to last while the steps after it are performed. */
export function holds({ action }: Step): boolean {
  return (
    action.kind === 'stop-service' ||
    action.kind === 'keep-queues' ||
    action.kind === 'await-quiet' ||
    action.kind === 'fetch-image'
  )
}

/**
 * What is there for the steps after it alone: no message, setting or declaration of the service's is touched by it. A
 * queue that is held open is: what it holds is moved aside where this program ends and nobody else reads from it.
 */
export function prepares({ action }: Step): boolean {
  return ['stop-service', 'await-quiet', 'hold-queues', 'drain-queues', 'fetch-image'].includes(action.kind)
}

/** An edit of files that is there for the upgrade after it. */
export function isForUpgrade({ steps }: Plan, { action }: Step): boolean {
  return action.kind === 'edit-values' && steps.some((step) => step.action.kind === 'upgrade-release')
}

/** Steps for which this one stops the service. */
export function stepsUnder({ steps }: Plan, index: number): number[] {
  const until = steps.findIndex(({ action }, at) => at > index && action.kind === 'start-service')
  return steps.flatMap((_, at) => (at > index && (until < 0 || at < until) ? [at] : []))
}

/**
 * Whether the service has to be stopped, now that it is about to be: something is left to do, and can be done. Throws
 * REFUSED where that would be refused afterwards, since users are not to be cut off for nothing.
 */
export async function isStopNeeded(running: Running, index: number, done: ReadonlySet<number>): Promise<boolean> {
  const under = stepsUnder(running.plan, index)
  let isNeeded = under.length === 0
  for (const at of under.filter((it) => !done.has(it))) {
    const { action } = running.plan.steps[at]!
    const handler = handlerOf(action)
    const workshop = workshopOf(running, at)
    if (await handler.isDone(action, workshop)) continue
    isNeeded = true
    await handler.foresee?.(action, workshop)
  }
  return isNeeded
}

/**
 * Throws what any step that is not done yet would throw for certain: before the first of them, nothing at all is
 * changed then.
 */
export async function foreseeAll(running: Running): Promise<void> {
  for (const [at, { action }] of running.plan.steps.entries()) {
    const handler = handlerOf(action)
    const workshop = workshopOf(running, at)
    if (handler.foresee && !(await handler.isDone(action, workshop))) await handler.foresee(action, workshop)
  }
}

/** Whether the service is to be stopped while that step is performed. */
export function isUnderStop({ steps }: Plan, index: number): boolean {
  const before = steps.slice(0, index).map(({ action }) => action.kind)
  return (
    before.lastIndexOf('stop-service') > before.lastIndexOf('start-service') &&
    steps[index]?.action.kind !== 'start-service'
  )
}

/** While the service is to be stopped, something else may start it again (DESIGN.md 6.8). Throws INTERRUPTED. */
export async function refuseIfStarted({ workshop: { open } }: Pick<Running, 'workshop'>): Promise<void> {
  const status = await (await open.service()).status()
  if (isStarted(status)) throw startedByOthers(status)
}
