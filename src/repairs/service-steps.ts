import type { Step } from '../core/plan.ts'
import type { ServiceStatus } from '../core/sources.ts'

/** The step that stops the service. `status`: as it is now; null: not known. */
export function stopStep(status: ServiceStatus | null): Step {
  const runs = status?.state === 'running'
  // one that is started again and again is left so, should the stop be taken back
  return { title: 'stop the service', action: { kind: 'stop-service', wasRunning: runs || status?.startsAgain === true }, interrupts: runs }
}

/** The step that starts it again. `locks`: those of the change log that have to be free in the end, too. */
export function startStep(locks: readonly { database: string; schema: string }[] = []): Step {
  const until = locks.length === 0 ? 'it answers' : `it answers and the change-log ${locks.length === 1 ? 'lock is' : 'locks are'} free`
  return {
    title: `start the service and wait until ${until}`,
    action: { kind: 'start-service', ...(locks.length > 0 && { locks }) },
    interrupts: false,
  }
}
